package dev.outbox.tck.store;

import static java.util.Objects.requireNonNull;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.InspectionStore;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.internal.Numbers;
import dev.outbox.tck.internal.SuiteTests;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Says what came and what should have, by ids, of which the frame makes numbers: {@code came 2, 3,
 * 1 instead of 1, 2, 3}. Messages, rows and ids are named as they are, or as a claim or a list of
 * them.
 */
final class CameAssert {
  private static final int MOST = 20;

  private final String what;
  private final List<UUID> came;

  CameAssert(String what, Object came) {
    this.what = what;
    this.came = ids(came).toList();
  }

  private static Stream<UUID> ids(@Nullable Object one) {
    if (one instanceof Collection<?> several) {
      return several.stream().flatMap(CameAssert::ids);
    } else if (one instanceof Claim claim) {
      return ids(claim.messages());
    } else if (one instanceof StoredMessage stored) {
      return Stream.of(
          stored.problem() == null ? stored.message().id() : Numbers.undecodable(stored));
    } else if (one instanceof OutboxMessage message) {
      return Stream.of(message.id());
    } else if (one instanceof RawRows.RawRow row) {
      return Stream.of(row.id());
    } else if (one instanceof InspectionStore.Listed listed) {
      return Stream.of(UUID.fromString(listed.id()));
    }
    return Stream.of((UUID) requireNonNull(one));
  }

  static List<UUID> ids(Object... expected) {
    return Stream.of(expected).flatMap(CameAssert::ids).toList();
  }

  CameAssert inOrder(Object... expected) {
    List<UUID> ids = ids(expected);
    int same = 0;
    while (same < Math.min(came.size(), ids.size()) && came.get(same).equals(ids.get(same))) {
      same++;
    }
    int from = Math.max(came.size(), ids.size()) <= MOST ? 0 : same;
    return check(
        came.equals(ids),
        "%scame %s instead of %s",
        from == 0 ? "" : "the first %s are right; then ".formatted(from),
        list(came.subList(from, came.size())),
        list(ids.subList(from, ids.size())));
  }

  /** These, in this order, whatever comes between. */
  CameAssert containsInOrder(Object... expected) {
    List<UUID> ids = ids(expected);
    return check(
        came.stream().filter(ids::contains).toList().equals(ids),
        "came %s, of which %s should come in this order",
        list(came),
        list(ids));
  }

  CameAssert inAnyOrder(Object... expected) {
    List<UUID> ids = ids(expected);
    List<UUID> missing = new ArrayList<>(ids);
    List<UUID> tooMany = new ArrayList<>();
    came.stream().filter(id -> !missing.remove(id)).forEach(tooMany::add);
    List<UUID> again = tooMany.stream().filter(ids::contains).toList();
    tooMany.removeAll(again);
    return check(
        missing.isEmpty() && again.isEmpty() && tooMany.isEmpty(),
        "came %s%s%s%s",
        list(came),
        missing.isEmpty() ? "" : "; missing: " + list(missing),
        again.isEmpty() ? "" : "; once more: " + list(again),
        tooMany.isEmpty() ? "" : "; not expected: " + list(tooMany));
  }

  CameAssert contains(Object... expected) {
    List<UUID> missing = ids(expected).stream().filter(id -> !came.contains(id)).toList();
    return check(missing.isEmpty(), "came %s; missing: %s", list(came), list(missing));
  }

  CameAssert hasSize(int expected) {
    int size = came.size();
    return check(
        size == expected, "came %s, that is %s of %s expected", list(came), size, expected);
  }

  CameAssert isEmpty() {
    return check(came.isEmpty(), "came %s, and nothing may come", list(came));
  }

  private CameAssert check(boolean so, String otherwise, Object... values) {
    SuiteTests.check(so, "%s%s", what.isEmpty() ? "" : what + ": ", otherwise.formatted(values));
    return this;
  }

  private String list(Collection<UUID> ids) {
    String some = ids.stream().limit(MOST).map(UUID::toString).collect(Collectors.joining(", "));
    return ids.isEmpty() ? "nothing" : some + (ids.size() > MOST ? ", \u2026" : "");
  }
}
