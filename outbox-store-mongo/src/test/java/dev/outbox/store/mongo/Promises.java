package dev.outbox.store.mongo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;

/** What was committed and what became of it, for one thread. */
final class Promises {

  /** By id, the key of each message that must be delivered, in the order of appends. */
  private final Map<UUID, String> expected = new LinkedHashMap<>();

  /** Those that may come out of the order of their key: they were delayed, or dead. */
  private final Set<UUID> unordered = new HashSet<>();

  /** How often a message has failed so that it counts. */
  private final Map<UUID, Integer> failed = new HashMap<>();

  private final List<UUID> delivered = new ArrayList<>();
  private final List<UUID> discarded = new ArrayList<>();

  Promises copy() {
    Promises copy = new Promises();
    copy.expected.putAll(expected);
    copy.unordered.addAll(unordered);
    copy.failed.putAll(failed);
    copy.delivered.addAll(delivered);
    copy.discarded.addAll(discarded);
    return copy;
  }

  void committed(List<OutboxMessage> messages) {
    for (OutboxMessage message : messages) {
      committed(message.id(), message.key(), message.deliverAfter() != null);
    }
  }

  void committed(UUID id, String key, boolean delayed) {
    expected.put(id, key);
    if (delayed) {
      unordered.add(id);
    }
  }

  /** The broker, or the relay, has spoken. */
  void decided(StoredMessage message, Decision decision) {
    UUID id = message.message().id();
    if (decision instanceof Decision.Delivered) {
      if (!delivered.contains(id)) {
        delivered.add(id);
      }
    } else if (decision instanceof Decision.Retry retry) {
      failed.merge(id, retry.counts() ? 1 : 0, Integer::sum);
    } else if (decision instanceof Decision.Dead) {
      unordered.add(id);
    }
  }

  /** An attempt more may have been counted of each. */
  void allMayHaveFailed() {
    expected.keySet().forEach(id -> failed.merge(id, 1, Integer::sum));
  }

  /** A dead letter begins anew. */
  void requeued(UUID id) {
    failed.remove(id);
  }

  /** A dead letter was thrown away. */
  void discarded(UUID id) {
    expected.remove(id);
    discarded.add(id);
  }

  /** Those that are gone. */
  List<UUID> left() {
    return Stream.concat(delivered.stream(), discarded.stream()).toList();
  }

  void assertAttempts(StoredMessage message) {
    assertThat(message.attempts())
        .as("attempts of %s, which is no more than its failures", message)
        .isLessThanOrEqualTo(failed.getOrDefault(message.message().id(), 0));
  }

  void assertKept() {
    assertThat(delivered)
        .as("delivered: all that was committed, nothing else")
        .containsExactlyInAnyOrderElementsOf(expected.keySet());
    assertThat(byKey(delivered))
        .as("first deliveries by key, in the order of appends")
        .isEqualTo(byKey(new ArrayList<>(expected.keySet())));
  }

  private Map<String, List<UUID>> byKey(List<UUID> ids) {
    Map<String, List<UUID>> byKey = new HashMap<>();
    for (UUID id : ids) {
      if (!unordered.contains(id)) {
        byKey.computeIfAbsent(expected.get(id), key -> new ArrayList<>()).add(id);
      }
    }
    return byKey;
  }
}
