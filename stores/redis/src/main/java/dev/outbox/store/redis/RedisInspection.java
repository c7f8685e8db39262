package dev.outbox.store.redis;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.outbox.spi.store.InspectionStore;
import dev.outbox.spi.store.InspectionStore.Inspected;
import dev.outbox.spi.store.InspectionStore.Listed;
import dev.outbox.spi.store.InspectionStore.Page;
import dev.outbox.spi.store.InspectionStore.Query;
import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.spi.store.InspectionStore.WaitingKey;
import dev.outbox.store.core.internal.KeyCursor;
import dev.outbox.store.redis.Messages.Fields;
import dev.outbox.store.redis.Messages.Found;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Looks at messages and keys by one script, which is brief: nobody else is served meanwhile. */
record RedisInspection(Server server) {
  private static final Script INSPECT = Script.in("outbox", "inspect");

  /** The most messages that one page reads. */
  private static final int MOST_READ = 1_000;

  /** The two parts of the keys, as a cursor names them. */
  private static final int RETRIED = 0;

  private static final int HALTED = 1;

  private Reply ask(Arguments arguments) {
    return Reply.of(server.run(INSPECT, arguments));
  }

  private static Arguments question(String what) {
    return Server.arguments().add(what);
  }

  // ---- messages

  Page<Listed> messages(Query query) {
    Reply reply =
        ask(
            question("messages")
                .add(query.afterSequence())
                .add(query.limit())
                .add(MOST_READ)
                .add(text(query.status()))
                .add(text(query.aggregateType()))
                .add(text(query.key()))
                .add(text(query.eventType()))
                .add(text(query.id()))
                .add(text(query.dedupKey()))
                .add(text(query.error()))
                .add(
                    text(
                        query.appendedBefore() == null
                            ? null
                            : Arguments.micros(query.appendedBefore()))));
    String next = reply.text(0);
    return new Page<>(
        reply.list(1).lists().map(one -> listed(one, found(one))).toList(),
        next.isEmpty() ? null : next);
  }

  private static String text(@Nullable Object value) {
    return value == null ? "" : value.toString();
  }

  /** Of status, sequence and fields. */
  private static Found found(Reply message) {
    return Messages.read(new Reply(message.values().subList(1, 3)));
  }

  private static Listed listed(Reply message, Found found) {
    Fields fields = found.fields();
    return new Listed(
        found.message().sequence(),
        text(fields.text("id")),
        Status.valueOf(message.text(0)),
        found.message().key(),
        fields.text("aggregateType"),
        fields.text("eventType"),
        fields.text("dedupKey"),
        found.message().attempts(),
        found.message().createdAt(),
        fields.time(fields.text("failed") == null ? "availableAt" : "due"),
        fields.time("expiresAt"),
        fields.text("error"),
        fields.time("failedAt"),
        fields.text("halts") != null);
  }

  Optional<Inspected> message(long sequence) {
    Reply reply = ask(question("message").add(sequence));
    if (reply.size() == 0) {
      return Optional.empty();
    }
    Found found = found(reply);
    Reply key = reply.list(3);
    return Optional.of(
        Inspected.of(listed(reply, found), found.message(), key.size() == 0 ? null : waiting(key)));
  }

  // ---- keys

  /** First those that wait for a retry, then those that are halted. */
  Page<WaitingKey> waitingKeys(boolean halted, @Nullable String after, int limit) {
    KeyCursor cursor = KeyCursor.of(after);
    boolean retried = !halted && cursor.bucket() != HALTED;
    Reply reply =
        ask(
            retried
                ? question("retried").add(cursor.key().getBytes(ISO_8859_1)).add(limit)
                : question("halted").add(Math.max(0, cursor.behind())).add(limit));
    return new Page<>(
        reply.list(1).lists().map(RedisInspection::waiting).toList(), next(retried, reply));
  }

  private static @Nullable String next(boolean retried, Reply reply) {
    byte[] last = reply.bytes(0);
    boolean isEnd = last == null || last.length == 0;
    if (retried) {
      return (isEnd
              ? new KeyCursor(HALTED, 0, "")
              : new KeyCursor(RETRIED, 0, new String(last, ISO_8859_1)))
          .toString();
    }
    return isEnd ? null : new KeyCursor(HALTED, Long.parseLong(reply.text(0)), "").toString();
  }

  /** What the script says of a key. */
  private static WaitingKey waiting(Reply key) {
    boolean halted = key.number(2) == 1;
    Long due = Messages.numberIn(key.textOrNull(3));
    Long attempts = Messages.numberIn(key.textOrNull(5));
    return new WaitingKey(
        key.text(0),
        Long.parseLong(key.text(1)),
        halted,
        halted || due == null ? null : Messages.instant(due),
        (int) Math.min(InspectionStore.MOST_BEHIND, key.number(4)),
        Messages.attempts(attempts),
        key.textOrNull(6));
  }
}
