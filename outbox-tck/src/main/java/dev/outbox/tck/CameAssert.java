package dev.outbox.tck;

import dev.outbox.spi.store.StoredMessage;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;
import org.opentest4j.AssertionFailedError;

/**
 * Says what came and what should have, by the numbers of messages: {@code came 2, 3, 1 instead of
 * 1, 2, 3}. The methods are named as AssertJ's.
 */
final class CameAssert {
  private static final int MOST = 20;

  private final Numbers numbers;
  private final List<UUID> came;
  private String what = "";

  /**
   * @param came ids or stored messages
   */
  CameAssert(Numbers numbers, List<?> came) {
    this.numbers = numbers;
    this.came = came.stream().map(CameAssert::id).toList();
  }

  private static UUID id(Object one) {
    if (one instanceof StoredMessage message) {
      return message.problem() == null ? message.message().id() : Numbers.undecodable(message);
    }
    return (UUID) one;
  }

  CameAssert as(String text, Object... values) {
    what = text.formatted(values) + ": ";
    return this;
  }

  // ---- in order

  CameAssert containsExactly(UUID... expected) {
    return containsExactlyElementsOf(Arrays.asList(expected));
  }

  CameAssert isEqualTo(List<UUID> expected) {
    return containsExactlyElementsOf(expected);
  }

  CameAssert containsExactlyElementsOf(List<UUID> expected) {
    int same = 0;
    while (same < Math.min(came.size(), expected.size())
        && came.get(same).equals(expected.get(same))) {
      same++;
    }
    if (same == came.size() && same == expected.size()) {
      return this;
    }
    boolean all = Math.max(came.size(), expected.size()) <= MOST;
    int from = all ? 0 : same;
    throw failed(
        "%scame %s instead of %s",
        all || from == 0 ? "" : "the first %d are right; then ".formatted(from),
        list(came.subList(from, came.size())),
        list(expected.subList(from, expected.size())));
  }

  /** These, in this order, whatever comes between. */
  CameAssert containsSubsequence(UUID... expected) {
    List<UUID> inOrder = came.stream().filter(Arrays.asList(expected)::contains).toList();
    if (!inOrder.equals(Arrays.asList(expected))) {
      throw failed(
          "came %s, of which %s should come in this order",
          list(came), list(Arrays.asList(expected)));
    }
    return this;
  }

  // ---- in any order

  CameAssert containsExactlyInAnyOrder(UUID... expected) {
    return containsExactlyInAnyOrderElementsOf(Arrays.asList(expected));
  }

  CameAssert containsExactlyInAnyOrderElementsOf(Collection<UUID> expected) {
    List<UUID> missing = new ArrayList<>(expected);
    List<UUID> tooMany = new ArrayList<>();
    came.stream().filter(id -> !missing.remove(id)).forEach(tooMany::add);
    if (!missing.isEmpty() || !tooMany.isEmpty()) {
      List<UUID> again = tooMany.stream().filter(expected::contains).toList();
      tooMany.removeAll(again);
      throw failed(
          "came %s%s%s%s",
          list(came),
          missing.isEmpty() ? "" : "; missing: " + list(missing),
          again.isEmpty() ? "" : "; once more: " + list(again),
          tooMany.isEmpty() ? "" : "; not expected: " + list(tooMany));
    }
    return this;
  }

  CameAssert contains(UUID... expected) {
    return containsAll(Arrays.asList(expected));
  }

  CameAssert containsAll(Collection<UUID> expected) {
    List<UUID> missing = expected.stream().filter(id -> !came.contains(id)).toList();
    if (!missing.isEmpty()) {
      throw failed("came %s; missing: %s", list(came), list(missing));
    }
    return this;
  }

  // ---- how many

  CameAssert hasSize(int expected) {
    if (came.size() != expected) {
      throw failed("came %s, that is %d of %d expected", list(came), came.size(), expected);
    }
    return this;
  }

  CameAssert isEmpty() {
    if (!came.isEmpty()) {
      throw failed("came %s, and nothing may come", list(came));
    }
    return this;
  }

  private AssertionFailedError failed(String text, Object... values) {
    return new AssertionFailedError(what + text.formatted(values));
  }

  private String list(Collection<UUID> ids) {
    String some = ids.stream().limit(MOST).map(numbers::of).collect(Collectors.joining(", "));
    return ids.isEmpty() ? "nothing" : some + (ids.size() > MOST ? ", \u2026" : "");
  }
}
