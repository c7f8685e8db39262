package dev.outbox.store.mysql;

import dev.outbox.store.core.internal.RelayPresence;
import java.sql.SQLException;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.transaction.TransactionException;
import org.jspecify.annotations.Nullable;

/**
 * What relays show each other by named locks ({@code GET_LOCK}), which belong to a session and end
 * with it. Anybody may ask whose a lock is; to list them takes a right, and a setting. So a relay
 * takes one of {@value #PLACES} places, and shows its code there bit by bit: a lock for each bit
 * that is set, and the last one when all of these are held. A lock of its number says on which
 * server it is seen.
 *
 * <p>The names begin with a hash of the database and the prefix, because these locks are the
 * server's.
 */
final class RelayLocks {
  private static final int PLACES = 128;

  /** The bits of a code. */
  private static final int BITS = 31;

  /** One more, which says that those of the code are there. */
  private static final int COMPLETE = 1 << BITS;

  private static final String NAMES =
      """
      select concat('outbox.',
        left(sha2(if(@@lower_case_table_names, lower(t.name), t.name), 256), 40), '.')
      from (select concat(
        coalesce(nullif(substring_index('${q}', '.', 1), ''), database()), '.${p}') as name) t
      """;

  private static final String FROM_PLACES =
      "from json_table('%s', '$[*]' columns (place smallint unsigned path '$')) p where "
          .formatted(IntStream.range(0, PLACES).boxed().toList());

  private static final String PLACE = "concat('${names}', p.place)";

  private static final String FREE_PLACE =
      "select p.place " + FROM_PLACES + "get_lock(" + PLACE + ", 0) limit 1";

  private static final String OWN_PLACE =
      "select p.place " + FROM_PLACES + "is_used_lock(" + PLACE + ") = connection_id()";

  private static final String CODES =
      "select null, null, ${code} "
              .replace(
                  "${code}",
                  IntStream.range(0, BITS)
                      .mapToObj(i -> "((is_used_lock(%s) is not null) << %s)".formatted(bit(i), i))
                      .collect(Collectors.joining(" | ")))
          + FROM_PLACES
          + "is_used_lock(%s) is not null".formatted(bit(BITS));

  private static String bit(int i) {
    return "concat('${names}', p.place, '.%s')".formatted(i);
  }

  private final String asksNames;
  private volatile @Nullable String names;

  RelayLocks(MysqlText text) {
    asksNames = text.fill(NAMES);
  }

  private String fill(Handle handle, String sql) {
    String known = names;
    if (known == null) {
      known = UnparsedSql.query(handle, asksNames).mapTo(String.class).one();
      names = known;
    }
    return sql.replace("${names}", known);
  }

  /** A query: nothing, nothing, and a relay's code. */
  String codes(Handle handle) {
    return fill(handle, CODES);
  }

  /** An expression: whether the relay with this claim id is seen on the server that is asked. */
  String isSeen(Handle handle, UUID claimId) {
    return "is_used_lock(%s) is not null"
        .formatted(ofNumber(handle, RelayPresence.number(claimId)));
  }

  /** The lock of a relay's number, in quotes. */
  String ofNumber(Handle handle, int number) {
    return fill(handle, "'${names}n%s'".formatted(number));
  }

  /**
   * Shows a code. A session that has its number is the relay's last one, which the server has not
   * missed yet: it is ended.
   *
   * @return false where no place is free, or another statement is answered by another server
   * @throws TransactionException when another session has not let go yet; to be tried again
   */
  boolean show(Handle handle, int code) {
    String number = ofNumber(handle, RelayPresence.number(code));
    ask(handle, "select if(get_lock(%1$s, 0), null, is_used_lock(%1$s))".formatted(number))
        .ifPresent(session -> kill(handle, session));
    lock(handle, "get_lock(%s, 1)".formatted(number));
    Optional<Long> place = ask(handle, FREE_PLACE);
    if (place.isEmpty()) {
      return false;
    }
    lock(handle, locks("get_lock('%s', 0)", place.get(), code | COMPLETE));
    return isTrue(handle, "is_used_lock(%s) = connection_id()".formatted(number));
  }

  private void lock(Handle handle, String locks) {
    if (!isTrue(handle, locks)) {
      throw ended();
    }
  }

  private static void kill(Handle handle, long session) {
    int ignored = UnparsedSql.update(handle, "kill " + session);
  }

  /** Shows another code in its place; for a moment, the bits of both. */
  void change(Handle handle, int before, int after) {
    long place = ask(handle, OWN_PLACE).orElseThrow(RelayLocks::ended);
    String changes =
        locks("get_lock('%s', 0)", place, after & ~before)
            + " and "
            + locks("release_lock('%s')", place, before & ~after);
    if (!isTrue(handle, changes)) {
      throw ended();
    }
  }

  /** All of the session's, which is nobody else's meanwhile. */
  void drop(Handle handle) {
    Optional<Long> ignored = ask(handle, "select release_all_locks()");
  }

  static TransactionException ended() {
    return new TransactionException(
        new SQLException("the locks by which a relay is seen are gone", "08003"));
  }

  /** Is true when a function is so of each of a place's locks: they are asked in this order. */
  private static String locks(String function, long place, int bits) {
    return IntStream.rangeClosed(0, BITS)
        .filter(i -> (bits & 1 << i) != 0)
        .mapToObj(i -> " and " + function.formatted("${names}%s.%s".formatted(place, i)))
        .collect(Collectors.joining("", "true", ""));
  }

  private boolean isTrue(Handle handle, String expression) {
    return ask(handle, "select " + expression).orElse(0L) == 1;
  }

  private Optional<Long> ask(Handle handle, String sql) {
    return UnparsedSql.query(handle, fill(handle, sql)).mapTo(Long.class).findFirst();
  }
}
