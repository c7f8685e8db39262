package dev.outbox.store.mysql;

import dev.outbox.store.core.internal.Database.Limits;
import dev.outbox.store.core.internal.Lease;
import dev.outbox.store.core.internal.Row;
import dev.outbox.store.core.internal.Row.EmptyKey;
import dev.outbox.store.jdbc.internal.JsonRows;
import dev.outbox.store.jdbc.internal.MessageRows;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.Query;

/**
 * Reads due blocked keys in three statements, where other databases need one with LATERAL. The
 * first reads the keys with their heads; the second the sequences of the followers, where the head
 * has not failed before; the third the messages themselves, as many as the byte limit has room for.
 * In between nothing changes: only the holder of the bucket moves messages of a key that is not
 * halted.
 */
final class BlockedMessages {

  /** Of so many keys followers are read at once; of the others the heads. */
  private static final int MOST_KEYS = 64;

  /** Due keys of a bucket, with their lowest BLOCKED message. */
  private static final String DUE_KEYS =
      """
      (select k.bucket, k.`key` as name, k.low_seq,
        (select m.seq ${blockedOfKey}) as head,
        (select m.last_failed_at is not null ${blockedOfKey}) as failed,
        (select m.payload_size ${blockedOfKey}) as size
      from ${q}${p}blocked_key k force index (${p}blocked_key_due)
      where k.bucket = ${bucket} and k.due_at <= utc_timestamp(6)
      order by k.bucket, k.due_at
      limit ${most})
      """;

  /** The first BLOCKED messages of a key, from a sequence on: their sizes. */
  private static final String FOLLOWERS =
      """
      (select m.bucket, m.place as name, m.seq, m.payload_size as size
      from ${q}${p}message m force index (primary)
      where m.bucket = ${bucket} and m.status = 'BLOCKED' and m.place = convert(? using binary) and m.seq >= ${seq}
      order by m.bucket, m.status, m.place, m.seq
      limit ${most})
      """;

  private static final String READ_BLOCKED = "select " + MessageRows.COLUMNS + " from ${places}";

  private final String dueKeys;
  private final String followers;

  BlockedMessages(MysqlText text) {
    dueKeys = text.fill(DUE_KEYS);
    followers = text.fill(FOLLOWERS);
  }

  /**
   * @param head the lowest BLOCKED sequence, or 0 when there is none
   * @param failed whether the head has failed before
   */
  private record DueKey(
      int bucket, String key, long lowSequence, long head, boolean failed, int size) {

    Message first() {
      return new Message(bucket, head, size);
    }

    /** What becomes of a key without messages. */
    Row empty() {
      return new EmptyKey(bucket, lowSequence, key);
    }
  }

  private record Message(int bucket, long sequence, int size) {}

  List<Row> read(Handle handle, List<Lease> leases, Limits limits, MessageRows types) {
    List<DueKey> keys = dueKeys(handle, leases, limits);
    List<Row> rows =
        new ArrayList<>(keys.stream().filter(key -> key.head() == 0).map(DueKey::empty).toList());
    List<DueKey> heads = keys.stream().filter(key -> key.head() != 0).toList();
    List<Message> messages = sequences(handle, heads, limits.messages());
    rows.addAll(messages(handle, fitting(messages, limits.bytes()), types));
    return rows;
  }

  private List<DueKey> dueKeys(Handle handle, List<Lease> leases, Limits limits) {
    String statement =
        leases.stream()
            .map(l -> part(dueKeys, l.bucket(), l.single() ? 1 : limits.messages()))
            .collect(Collectors.joining(" union all "));
    return UnparsedSql.query(handle, statement)
        .map(
            (row, context) ->
                new DueKey(
                    row.getInt("bucket"),
                    row.getString("name"),
                    row.getLong("low_seq"),
                    row.getLong("head"),
                    row.getBoolean("failed"),
                    row.getInt("size")))
        .list();
  }

  private static String part(String sql, int bucket, int most) {
    return sql.replace("${bucket}", Integer.toString(bucket))
        .replace("${most}", Integer.toString(most));
  }

  /** The messages of each key, in order: the head alone while it has failed before. */
  private List<Message> sequences(Handle handle, List<DueKey> heads, int most) {
    Map<Integer, Long> due =
        heads.stream().collect(Collectors.groupingBy(DueKey::bucket, Collectors.counting()));
    List<Share> shares =
        heads.stream()
            .filter(key -> !key.failed())
            .map(key -> new Share(key, (int) (most / due.getOrDefault(key.bucket(), 1L))))
            .filter(share -> share.most() > 1)
            .limit(MOST_KEYS)
            .toList();
    Map<Share.Key, List<Message>> followers =
        shares.isEmpty() ? Map.of() : followers(handle, shares);
    List<Message> all = new ArrayList<>();
    for (DueKey key : heads) {
      all.addAll(
          followers.getOrDefault(new Share.Key(key.bucket(), key.key()), List.of(key.first())));
    }
    return all;
  }

  /** How many messages of a key are read. */
  private record Share(DueKey due, int most) {
    record Key(int bucket, String key) {}
  }

  private Map<Share.Key, List<Message>> followers(Handle handle, List<Share> shares) {
    Query query =
        UnparsedSql.query(
            handle,
            shares.stream()
                .map(
                    share ->
                        part(this.followers, share.due().bucket(), share.most())
                            .replace("${seq}", Long.toString(share.due().head())))
                .collect(Collectors.joining(" union all ")));
    for (int i = 0; i < shares.size(); i++) {
      query.bind(i, shares.get(i).due().key());
    }
    Map<Share.Key, List<Message>> followers = new HashMap<>();
    query
        .map(
            (row, context) -> {
              int bucket = row.getInt("bucket");
              return followers
                  .computeIfAbsent(
                      new Share.Key(bucket, row.getString("name")), key -> new ArrayList<>())
                  .add(new Message(bucket, row.getLong("seq"), row.getInt("size")));
            })
        .list();
    return followers;
  }

  /** Of each bucket, the messages that begin before the limit. */
  private static List<Message> fitting(List<Message> messages, long limit) {
    Map<Integer, Long> bytes = new HashMap<>();
    return messages.stream()
        .filter(m -> bytes.merge(m.bucket(), (long) m.size(), Long::sum) - m.size() < limit)
        .toList();
  }

  private List<Row> messages(Handle handle, List<Message> messages, MessageRows rows) {
    if (messages.isEmpty()) {
      return List.of();
    }
    Map<Long, Integer> turns = new HashMap<>();
    messages.forEach(message -> turns.put(message.sequence(), turns.size()));
    return handle
        .createQuery(READ_BLOCKED)
        .bind("rows", JsonRows.of(messages, m -> List.of(m.bucket(), m.sequence())))
        .map((row, context) -> rows.blocked(row))
        .stream()
        .sorted(Comparator.comparing(row -> turns.get(row.sequence())))
        .toList();
  }
}
