package dev.outbox.relay;

import dev.outbox.relay.RelayEvent.DeadLetterReason;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The messages of one claim, and what is decided about them. For each key, the messages up to the
 * first one that was neither delivered nor expired get a decision. All later ones are released as
 * they were, because they may not overtake it (O2, O3, P2). For one thread.
 */
final class Batch {
  private final List<StoredMessage> messages;
  private final Verdicts verdicts;
  private final List<StoredMessage> publishable;

  /** The decision on each of {@link #messages}; null where there is none. */
  private final @Nullable Decision[] decisions;

  /** The place of each of {@link #publishable} among {@link #messages}. */
  private final int[] places;

  private final List<StoredMessage> overtaking = new ArrayList<>();

  /** The places of messages that were not taken because the broker as a whole is away. */
  private final List<Integer> untaken = new ArrayList<>();

  private final Set<Long> rejected = new HashSet<>();
  private boolean answered;
  private boolean postponed;
  private boolean delivered;
  private @Nullable String brokerError;

  Batch(List<StoredMessage> messages, Verdicts verdicts, OperatorPauses paused) {
    this.messages = messages;
    this.verdicts = verdicts;
    publishable = new ArrayList<>(messages.size());
    decisions = new Decision[messages.size()];
    places = new int[messages.size()];
    Set<String> stopped = new HashSet<>();
    for (int i = 0; i < decisions.length; i++) {
      StoredMessage message = messages.get(i);
      if (isIn(stopped, message)) {
        continue;
      }
      Decision decision = paused.before(message);
      if (decision == null) {
        decision = verdicts.beforePublishing(message);
      }
      if (decision == null) {
        places[publishable.size()] = i;
        publishable.add(message);
      } else {
        decisions[i] = decision;
        if (!(decision instanceof Decision.Expired)) {
          stopped.add(message.key());
        }
      }
    }
  }

  /** Computes no key's hash while no key is stopped, which is most often so. */
  private static boolean isIn(Set<String> stopped, StoredMessage message) {
    return !stopped.isEmpty() && stopped.contains(message.key());
  }

  /** The messages that the publisher may have; may be empty. */
  List<StoredMessage> publishable() {
    return publishable;
  }

  /**
   * @param results one for each of {@link #publishable}; null where there is none
   */
  void published(List<@Nullable Result> results, long now) {
    Evidence evidence = Evidence.of(publishable, results);
    Set<String> stopped = new HashSet<>();
    for (int i = 0; i < publishable.size(); i++) {
      StoredMessage message = publishable.get(i);
      Result result = results.get(i);
      if (isIn(stopped, message)) {
        if (result instanceof Result.Delivered) {
          overtaking.add(message);
        }
        continue;
      }
      boolean later = result instanceof Result.Unavailable u && u.again() != null;
      postponed |= later;
      answered |= result != null && !later;
      delivered |= result instanceof Result.Delivered;
      Decision decision = result == null ? null : verdicts.after(message, result, evidence, now);
      if (decision != null) {
        decisions[places[i]] = decision;
      } else if (result instanceof Result.Unavailable u) {
        brokerError = u.error();
        untaken.add(places[i]);
      }
      if (result instanceof Result.Rejected) {
        rejected.add(message.sequence());
      }
      if (!(result instanceof Result.Delivered)) {
        stopped.add(message.key());
      }
    }
  }

  /** Makes messages that the broker did not take wait, so that others come first. */
  void setAside(int most, Duration delay) {
    for (int place : untaken.subList(0, Math.min(most, untaken.size()))) {
      decisions[place] = Decision.retryUncounted(delay, String.valueOf(brokerError));
    }
  }

  /** Takes back the decisions on messages whose lease was lost, and returns those messages. */
  List<StoredMessage> lost(Set<Long> sequences) {
    if (sequences.isEmpty()) {
      return List.of();
    }
    List<StoredMessage> lost = new ArrayList<>();
    for (int i = 0; i < decisions.length; i++) {
      if (sequences.contains(messages.get(i).sequence())) {
        decisions[i] = null;
        lost.add(messages.get(i));
      }
    }
    return lost;
  }

  /** By sequence; a message without one is released as it was. */
  Map<Long, Decision> decisions() {
    Map<Long, Decision> bySequence = new HashMap<>(2 * decisions.length);
    for (int i = 0; i < decisions.length; i++) {
      Decision decision = decisions[i];
      if (decision != null) {
        bySequence.put(messages.get(i).sequence(), decision);
      }
    }
    return Collections.unmodifiableMap(bySequence);
  }

  /** Messages that were delivered after an earlier one of their key was not: P2 is broken. */
  List<StoredMessage> overtaking() {
    return overtaking;
  }

  /** Whether the publisher gave any result that says something of its broker. */
  boolean answered() {
    return answered;
  }

  /** Whether a message waits for its turn, or for its answer: that says nothing of the broker. */
  boolean postponed() {
    return postponed;
  }

  boolean delivered() {
    return delivered;
  }

  /** Why the broker as a whole could not be reached, or null. */
  @Nullable String brokerError() {
    return brokerError;
  }

  private DeadLetterReason reason(StoredMessage message) {
    if (message.problem() != null) {
      return DeadLetterReason.UNDECODABLE;
    }
    return rejected.contains(message.sequence())
        ? DeadLetterReason.REJECTED
        : DeadLetterReason.EXHAUSTED;
  }

  /** Tells the listener what the store now knows. */
  void tell(RelayListener listener, String worker) {
    for (int i = 0; i < decisions.length; i++) {
      StoredMessage message = messages.get(i);
      Decision decision = decisions[i];
      if (decision instanceof Decision.Delivered) {
        listener.on(new RelayEvent.Delivered(worker, message));
      } else if (decision instanceof Decision.Expired) {
        listener.on(new RelayEvent.Expired(worker, message));
      } else if (decision instanceof Decision.Retry retry) {
        listener.on(new RelayEvent.Retried(worker, message, retry));
      } else if (decision instanceof Decision.Dead dead) {
        listener.on(new RelayEvent.DeadLettered(worker, message, dead, reason(message)));
      }
    }
  }
}
