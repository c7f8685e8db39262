package dev.outbox.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.outbox.PermanentOutboxException;
import dev.outbox.TransientOutboxException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.IntConsumer;
import java.util.stream.LongStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Decisions that are cut short say how far they came. */
class DecisionsTest {
  private final StringWriter text = new StringWriter();
  private final List<Set<Long>> decided = new ArrayList<>();

  /** About the dead letters 1 to 2500, of which every tenth is gone. */
  private Decisions decisions(IntConsumer inPart) {
    return new Decisions(
        Decisions.parts(LongStream.rangeClosed(1, 2_500).boxed().toList(), 100),
        part -> {
          inPart.accept(decided.size() + 1);
          decided.add(part);
          return Set.copyOf(part.stream().filter(sequence -> sequence % 10 != 0).toList());
        },
        "requeued",
        new PrintWriter(text, true));
  }

  @Test
  @DisplayName("are made about some at a time, each once, and tell each thousand")
  void tell() {
    Decisions decisions = decisions(part -> {});
    assertThat(decisions.doAll()).isTrue();
    assertThat(decided).hasSize(25).allMatch(part -> part.size() == 100);
    assertThat(decided.stream().flatMap(Set::stream)).hasSize(2_500).doesNotHaveDuplicates();
    assertThat(decisions.count()).isEqualTo(2_250);
    assertThat(decisions.missing()).hasSize(250).allMatch(sequence -> sequence % 10 == 0);
    assertThat(text.toString().lines())
        .containsExactly("1080 of 2500 requeued", "2070 of 2500 requeued");
    decisions.stop();
    assertThat(text.toString()).as("at the end of the program").doesNotContain("before this");
  }

  @Test
  @DisplayName("of which one is refused say how many were made before")
  void fail() {
    Decisions decisions =
        decisions(
            part -> {
              if (part == 3) {
                throw new PermanentOutboxException("refused");
              }
            });
    assertThatThrownBy(decisions::doAll).hasMessage("refused");
    assertThat(text.toString().lines())
        .containsExactly(
            "180 of 2500 requeued before this.", "The same command goes on with the others.");
  }

  @Test
  @DisplayName("of which nobody knows whether the last was made say so")
  void inDoubt() {
    Decisions decisions =
        decisions(
            part -> {
              if (part == 3) {
                throw new TransientOutboxException("no reply");
              }
            });
    assertThatThrownBy(decisions::doAll).hasMessage("no reply");
    assertThat(text.toString().lines())
        .containsExactly(
            "180 of 2500 requeued before this.",
            "The next 100 may have been, too: those that are not there any more.",
            "The same command goes on with the others.");
  }

  @Test
  @DisplayName("that a signal ends stop behind the part that is being decided, and say how far")
  void stopped() throws InterruptedException {
    Decisions[] running = new Decisions[1];
    Thread hook = new Thread(() -> running[0].stop());
    running[0] =
        decisions(
            part -> {
              if (part == 2) {
                hook.start();
                await().until(() -> hook.getState() == Thread.State.TIMED_WAITING);
              }
            });
    assertThat(running[0].doAll()).isFalse();
    hook.join();
    assertThat(decided).hasSize(2);
    assertThat(text.toString().lines())
        .containsExactly(
            "180 of 2500 requeued before this.", "The same command goes on with the others.");
  }
}
