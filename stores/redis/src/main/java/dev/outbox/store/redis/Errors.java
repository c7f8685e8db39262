package dev.outbox.store.redis;

import dev.outbox.InvalidMessageException;
import dev.outbox.OutboxException;
import dev.outbox.PermanentOutboxException;
import dev.outbox.TransientOutboxException;
import java.util.Set;
import redis.clients.jedis.Connection;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/** Says in one sentence what went wrong, and whether trying again can help. */
final class Errors {

  /** The first words of what a server says that starts, fails over, or is busy. */
  private static final Set<String> PASSING =
      Set.of(
          "LOADING",
          "BUSY",
          "MASTERDOWN",
          "NOREPLICAS",
          "CLUSTERDOWN",
          "TRYAGAIN",
          "READONLY",
          "UNBLOCKED");

  /** Of these, what says that the server is not the primary any more. */
  private static final Set<String> DEMOTED = Set.of("MASTERDOWN", "READONLY", "UNBLOCKED");

  /** It says so to whoever connects, and hangs up. */
  private static final String FULL = "ERR max number of clients reached";

  /** What EXEC says before the reason, when it is itself refused. */
  private static final String DISCARDED = "EXECABORT Transaction discarded because of: ";

  private Errors() {}

  /**
   * The same as {@link #translate(JedisException, String)}. Where the server has become a replica
   * the pool throws the connection away: a new one leads to whoever has its name or address now.
   */
  static OutboxException translate(JedisException e, String prefix, Connection connection) {
    if (DEMOTED.contains(word(String.valueOf(e.getMessage())))) {
      connection.setBroken();
    }
    return translate(e, prefix);
  }

  private static String word(String said) {
    return said.split(" ", 2)[0];
  }

  static OutboxException translate(JedisException e, String prefix) {
    String said = String.valueOf(e.getMessage());
    if (!(e instanceof JedisDataException)) {
      return new TransientOutboxException(
          "no connection to Redis: is it running, is the address right, is the pool large enough? "
              + said,
          e);
    }
    String reason = said.startsWith(DISCARDED) ? said.substring(DISCARDED.length()) : said;
    String word = word(reason);
    String detail = reason.substring(Math.min(reason.length(), word.length() + 1));
    return switch (word) {
      case "OUTBOXSCHEMA" -> Schema.wrong(prefix, detail.equals("none") ? null : detail);
      case "OUTBOXLIMIT" -> new InvalidMessageException(detail);
      case "OOM" ->
          new TransientOutboxException(
              "Redis has no memory left (maxmemory), and refuses what is appended or begun; a relay can still empty the outbox: "
                  + said,
              e);
      case "MOVED", "ASK" ->
          new PermanentOutboxException(
              "this Redis is one of a cluster, and another one has the key, or is given it now; connect to that one, and give all keys of a transaction the outbox's name in braces: "
                  + said,
              e);
      case "MISCONF" ->
          new TransientOutboxException("Redis cannot write to its disk, and refuses: " + said, e);
      default -> other(e, word, said);
    };
  }

  private static OutboxException other(JedisException e, String word, String said) {
    if (said.startsWith(FULL)) {
      return new TransientOutboxException(
          "Redis has as many clients as it takes; close some, or let it take more (maxclients): "
              + said,
          e);
    }
    return PASSING.contains(word)
        ? new TransientOutboxException(
            "Redis does not take commands at this moment, as when it starts or after a failover; try again: "
                + said,
            e)
        : new PermanentOutboxException("Redis refused a command: " + said, e);
  }
}
