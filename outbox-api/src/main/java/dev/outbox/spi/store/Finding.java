package dev.outbox.spi.store;

import static java.util.Objects.requireNonNull;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What somebody who looked at an outbox has found. Sentence and remedy may name what others have
 * named, as a key or an application, and repeat what a driver said: whoever shows them masks
 * secrets first.
 *
 * @param what was looked at, in a word or two: {@code halted key}
 * @param sentence how it is, and what comes of it; one sentence without a full stop
 * @param remedy what to type, or else what to do; null: nothing, or the sentence says it
 */
public record Finding(String what, Severity severity, String sentence, @Nullable String remedy) {

  /** From the best to the worst. */
  public enum Severity {
    /** All is well. */
    FINE,
    /** It makes the outbox slow, or will stop it, or somebody should look at it. */
    WARNING,
    /** Something is not delivered, or can be lost, until somebody puts it right. */
    PROBLEM
  }

  public Finding {
    requireNonNull(what, "what");
    requireNonNull(severity, "severity");
    requireNonNull(sentence, "sentence");
  }

  public static Finding fine(String what, String sentence) {
    return new Finding(what, Severity.FINE, sentence, null);
  }

  public static Finding warning(String what, String sentence, @Nullable String remedy) {
    return new Finding(what, Severity.WARNING, sentence, remedy);
  }

  public static Finding problem(String what, String sentence, @Nullable String remedy) {
    return new Finding(what, Severity.PROBLEM, sentence, remedy);
  }

  /** What was found; when that is nothing, a finding that all is fine. */
  public static List<Finding> orFine(String what, List<Finding> found) {
    return found.isEmpty() ? List.of(fine(what, "fine")) : found;
  }

  public boolean isFine() {
    return severity == Severity.FINE;
  }

  /** The sentence, and after a colon the remedy. */
  public String text() {
    return remedy == null ? sentence : sentence + ": " + remedy;
  }
}
