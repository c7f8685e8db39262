package dev.outbox.relay;

import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What the results of one call say together. A publisher may blame the whole broker because one of
 * its topics is silent; what it delivered in the same call shows that it is wrong.
 *
 * @param delivered aggregate types of which a message was delivered
 * @param silent aggregate types of which all are unavailable, with no destination named
 */
record Evidence(Set<String> delivered, Set<String> silent) {
  private static final Evidence NONE = new Evidence(Set.of(), Set.of());

  /**
   * Sorts the results by type; empty when nothing is unavailable. Then nobody asks, and sorting
   * would double the work of handling a result.
   *
   * @param results one for each message; null where there is none
   */
  static Evidence of(List<StoredMessage> messages, List<@Nullable Result> results) {
    if (results.stream().noneMatch(Result.Unavailable.class::isInstance)) {
      return NONE;
    }
    Set<String> delivered = new HashSet<>();
    Set<String> silent = new HashSet<>();
    for (int i = 0; i < messages.size(); i++) {
      String type = messages.get(i).message().aggregateType();
      if (results.get(i) instanceof Result.Delivered) {
        delivered.add(type);
      } else if (results.get(i) instanceof Result.Unavailable u && u.destination() == null) {
        silent.add(type);
      }
    }
    silent.removeAll(delivered);
    return new Evidence(delivered, silent);
  }
}
