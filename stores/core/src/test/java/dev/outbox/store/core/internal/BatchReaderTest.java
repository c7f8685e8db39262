package dev.outbox.store.core.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.core.internal.BatchReader.Batch;
import dev.outbox.store.core.internal.Database.Key;
import dev.outbox.store.core.internal.Database.Limits;
import dev.outbox.store.core.internal.Database.Pending;
import dev.outbox.store.core.internal.Database.Release;
import dev.outbox.store.core.internal.Row.Claimable;
import dev.outbox.store.core.internal.Row.EmptyKey;
import dev.outbox.store.core.internal.Row.ToMove;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** On statements that give what the test says, and say what they were asked. */
@DisplayName("A batch")
class BatchReaderTest {
  private static final Duration LEASE = Duration.ofSeconds(30);

  /** What the next read of each status gives, and all reads after it. */
  private final Map<Status, List<Row>> gives = new EnumMap<>(Status.class);

  private final List<String> reads = new ArrayList<>();
  private final List<Limits> limits = new ArrayList<>();
  private final List<Row> moved = new ArrayList<>();
  private final List<Key> lowered = new ArrayList<>();
  private final List<List<Key>> advanced = new ArrayList<>();
  private final List<Row> counted = new ArrayList<>();

  @BeforeEach
  void nothing() {
    List.of(Status.PENDING, Status.SCHEDULED, Status.BLOCKED).forEach(s -> gives.put(s, List.of()));
  }

  @SuppressWarnings("unchecked")
  private BatchReader<String> reader(int maxMessages, long maxBytes) {
    Database<String> database =
        Fakes.database(
            (proxy, method, a) ->
                switch (method.getName()) {
                  case "readPending" ->
                      new Pending(
                          read(Status.PENDING, (List<Lease>) a[1], (Limits) a[2]),
                          afterRead((List<Lease>) a[1]));
                  case "readScheduled" -> read(Status.SCHEDULED, (List<Lease>) a[1], (Limits) a[2]);
                  case "readBlocked" -> read(Status.BLOCKED, (List<Lease>) a[1], (Limits) a[2]);
                  case "move" -> moved.addAll((Collection<Row>) a[1]);
                  case "lower" -> lowered.addAll((List<Key>) a[1]);
                  case "advance" -> advanced.add(List.copyOf((Collection<Key>) a[1]));
                  case "count" -> a[2].equals(1) && counted.addAll((Collection<Row>) a[1]);
                  default -> throw new UnsupportedOperationException(method.getName());
                });
    Claim.Request request = new Claim.Request("relay", maxMessages, maxBytes, LEASE);
    return new BatchReader<>("handle", database, request);
  }

  private List<Lease> afterRead(List<Lease> leases) {
    return leases.stream().map(lease -> lease.with(lease.state() + " read")).toList();
  }

  private List<Row> read(Status status, List<Lease> leases, Limits within) {
    reads.add(
        "%s of %s: %d"
            .formatted(status, leases.stream().map(Lease::bucket).toList(), within.messages()));
    limits.add(within);
    return gives.get(status);
  }

  private static Lease lease(int bucket) {
    return lease(bucket, 3, false, false, false, 0);
  }

  private static Lease due(int bucket, boolean scheduled, boolean blocked) {
    return lease(bucket, 3, scheduled, blocked, false, 0);
  }

  private static Lease lease(
      int bucket, long token, boolean scheduled, boolean blocked, boolean single, int batches) {
    return new Lease(
        bucket, token, "state " + bucket, scheduled, blocked, single, LEASE, batches, 0);
  }

  private static Row row(int bucket, long sequence, Status status, int size) {
    String key = "key of " + bucket;
    OutboxMessage message =
        OutboxMessage.builder()
            .aggregate("order", key)
            .partitionKey(key)
            .eventType("OrderChanged")
            .payload(new byte[size])
            .build();
    StoredMessage stored = StoredMessage.of(sequence, 0, Instant.EPOCH, message);
    return new Claimable(bucket, sequence, key, status, sequence, stored, null);
  }

  private static Row toMove(int bucket, long sequence, String key, Status target) {
    return new ToMove(bucket, sequence, key, Status.PENDING, sequence, target);
  }

  private static List<Row> rows(int bucket, Status status, long from, long to, int size) {
    return LongStream.rangeClosed(from, to).mapToObj(s -> row(bucket, s, status, size)).toList();
  }

  private void gives(Status status, int count) {
    gives.put(status, rows(1, status, 1, count, 0));
  }

  private Batch chosen(int maxMessages, long maxBytes, Lease... leases) {
    BatchReader<String> reader = reader(maxMessages, maxBytes);
    reader.read(List.of(leases));
    return reader.choose(false);
  }

  private static List<Long> sequences(Batch batch) {
    return batch.rows().stream().map(Row::sequence).toList();
  }

  @Nested
  @DisplayName("is read so that no kind of messages takes the place of another (C6):")
  class Shares {

    @Test
    @DisplayName("PENDING get half, due SCHEDULED and blocked keys half of the rest each")
    void allKinds() {
      gives(Status.PENDING, 50);
      gives(Status.SCHEDULED, 25);
      reader(100, 1_000).read(List.of(due(1, true, true)));
      assertThat(reads)
          .containsExactly("PENDING of [1]: 50", "SCHEDULED of [1]: 25", "BLOCKED of [1]: 25");
    }

    @Test
    @DisplayName("also of as many as an int can say")
    void largest() {
      BatchReader<String> reader = reader(Integer.MAX_VALUE, Long.MAX_VALUE);
      assertThat(reader.hasRoom()).isTrue();
      reader.read(List.of(lease(1), lease(2)));
      assertThat(limits).containsExactly(new Limits(1 << 30, Long.MAX_VALUE / 2));
    }

    @Test
    @DisplayName("what one kind does not use, the next ones have")
    void unused() {
      gives(Status.PENDING, 10);
      gives(Status.SCHEDULED, 5);
      reader(100, 1_000).read(List.of(due(1, true, true)));
      assertThat(reads)
          .containsExactly("PENDING of [1]: 50", "SCHEDULED of [1]: 45", "BLOCKED of [1]: 85");
    }

    @Test
    @DisplayName("nothing is kept free for a kind of which nothing is due")
    void onlySome() {
      gives(Status.PENDING, 10);
      reader(100, 1_000).read(List.of(lease(1)));
      reader(100, 1_000).read(List.of(due(1, true, false)));
      reader(100, 1_000).read(List.of(due(1, false, true)));
      assertThat(reads)
          .containsExactly(
              "PENDING of [1]: 100",
              "PENDING of [1]: 75",
              "SCHEDULED of [1]: 90",
              "PENDING of [1]: 75",
              "BLOCKED of [1]: 90");
    }

    @Test
    @DisplayName("of further buckets, what is left is shared in the same way")
    void furtherBuckets() {
      BatchReader<String> reader = reader(100, 1_000);
      gives(Status.PENDING, 40);
      reader.read(List.of(lease(1)));
      assertThat(reader.room()).isEqualTo(60);
      gives(Status.PENDING, 30);
      gives(Status.SCHEDULED, 15);
      reader.read(List.of(due(2, true, true)));
      assertThat(reads)
          .containsExactly(
              "PENDING of [1]: 100",
              "PENDING of [2]: 30",
              "SCHEDULED of [2]: 15",
              "BLOCKED of [2]: 15");
    }

    @Test
    @DisplayName("each kind is looked at in the buckets that have it, also for a single message")
    void smallest() {
      gives(Status.PENDING, 1);
      reader(1, 1_000).read(List.of(due(1, true, false), due(2, false, true)));
      assertThat(reads)
          .containsExactly("PENDING of [1, 2]: 1", "SCHEDULED of [1]: 1", "BLOCKED of [2]: 1");
    }

    @Test
    @DisplayName("each bucket has an equal part of messages and bytes, of bytes at least one")
    void perBucket() {
      List<Lease> three = List.of(lease(1), lease(2), lease(3));
      reader(100, 1_000).read(three);
      reader(99, 2).read(three);
      assertThat(limits).containsExactly(new Limits(34, 333), new Limits(33, 1));
    }
  }

  @Nested
  @DisplayName("has room")
  class HasRoom {

    @ParameterizedTest
    @CsvSource({"100, 49, true", "100, 50, false", "5, 2, true", "5, 3, false", "1, 0, true"})
    @DisplayName("until half of its messages were found")
    void messages(int most, int found, boolean hasRoom) {
      BatchReader<String> reader = reader(most, 1_000);
      gives(Status.PENDING, found);
      reader.read(List.of(lease(1)));
      assertThat(reader.hasRoom()).isEqualTo(hasRoom);
    }

    @ParameterizedTest
    @CsvSource({"1000, 499, true", "1000, 500, false", "999, 499, true", "999, 500, false"})
    @DisplayName("until half of its bytes were found")
    void bytes(long most, int found, boolean hasRoom) {
      BatchReader<String> reader = reader(100, most);
      gives.put(Status.PENDING, List.of(row(1, 1, Status.PENDING, found)));
      reader.read(List.of(lease(1)));
      assertThat(reader.hasRoom()).isEqualTo(hasRoom);
    }

    @Test
    @DisplayName("beside the buckets that are of use: with messages, or with something moved")
    void used() {
      BatchReader<String> reader = reader(100, 1_000);
      gives.put(
          Status.PENDING,
          List.of(row(1, 1, Status.PENDING, 0), toMove(2, 2, "k", Status.SCHEDULED)));
      reader.read(List.of(lease(1), lease(2), lease(3), lease(4)));
      assertThat(reader.used()).isEqualTo(2);
    }
  }

  @Nested
  @DisplayName("is chosen")
  class Chosen {

    /** A message of each kind in one bucket, and room for one. */
    @ParameterizedTest
    @CsvSource({
      "3, 0, PENDING",
      "4, 0, SCHEDULED",
      "5, 0, BLOCKED",
      "3, 1, SCHEDULED",
      "3, 2, BLOCKED",
      "4, 2, PENDING"
    })
    @DisplayName("with another kind first each time, or one kind would take all places (C6)")
    void kindsTakeTurns(long token, int batches, Status first) {
      for (Status status : gives.keySet()) {
        gives.put(status, List.of(row(1, status.ordinal() + 1, status, 0)));
      }
      assertThat(chosen(1, 1_000, lease(1, token, true, true, false, batches), lease(2)).rows())
          .extracting(Claimable::status)
          .containsExactly(first);
    }

    private void foundInTwoBuckets() {
      List<Row> found = new ArrayList<>(rows(9, Status.PENDING, 7, 8, 0));
      found.addAll(rows(2, Status.PENDING, 1, 1, 0));
      gives.put(Status.PENDING, found);
    }

    @Test
    @DisplayName("from the bucket first that waited longest; a bucket cut off keeps its turn")
    void cutOff() {
      foundInTwoBuckets();
      BatchReader<String> reader = reader(2, 1_000);
      Lease empty = lease(5, 3, false, false, false, 1);
      reader.read(List.of(lease(9), lease(2), empty));
      Batch batch = reader.choose(false);
      assertThat(sequences(batch)).containsExactly(7L, 8L);
      assertThat(batch.leases()).extracting(Lease::bucket).containsExactly(9);
      assertThat(batch.unused())
          .extracting(r -> r.lease().bucket(), Release::keepsTurn, Release::settled)
          .containsExactly(tuple(2, true, false), tuple(5, false, true));
      assertThat(batch.more()).as("buckets with more").contains(2);
      assertThat(batch.pollAgain()).isTrue();
    }

    @Test
    @DisplayName("and claimed in sequence order, whatever the order of buckets; nothing is left")
    void inSequence() {
      foundInTwoBuckets();
      Batch batch = chosen(9, 1_000, lease(9), lease(2));
      assertThat(sequences(batch)).containsExactly(1L, 7L, 8L);
      assertThat(batch.more()).isEmpty();
      assertThat(batch.pollAgain()).isFalse();
      assertThat(batch.unused()).isEmpty();
      assertThat(counted).isEmpty();
    }

    @Test
    @DisplayName("and says to poll again when buckets were not looked at")
    void elsewhere() {
      assertThat(reader(9, 1_000).choose(true).pollAgain()).isTrue();
      assertThat(reader(9, 1_000).choose(false).pollAgain()).isFalse();
    }

    @ParameterizedTest
    @CsvSource({"1200, 3", "1199, 2", "800, 2", "799, 1", "399, 1", "1, 1"})
    @DisplayName("up to the bytes asked for, but at least one message")
    void bytes(long most, int messages) {
      gives.put(Status.PENDING, rows(1, Status.PENDING, 1, 3, 400));
      assertThat(chosen(9, most, lease(1)).rows()).hasSize(messages);
    }

    @Test
    @DisplayName("with one message of a bucket that hands out singly, and counts its attempt (S6)")
    void single() {
      List<Row> found = new ArrayList<>(rows(1, Status.PENDING, 1, 2, 0));
      found.addAll(rows(2, Status.PENDING, 3, 4, 0));
      gives.put(Status.PENDING, found);
      assertThat(sequences(chosen(9, 1_000, lease(1, 3, false, false, true, 0), lease(2))))
          .containsExactly(1L, 3L, 4L);
      assertThat(counted).extracting(Row::sequence).containsExactly(1L);
    }
  }

  @Nested
  @DisplayName("says that a bucket has more")
  class More {
    private Batch batch(int maxMessages, int found, int size) {
      gives.put(Status.PENDING, rows(1, Status.PENDING, 1, found, size));
      return chosen(maxMessages, 1_000, lease(1));
    }

    @Test
    @DisplayName("when it brought as many messages as it might")
    void messages() {
      assertThat(batch(4, 4, 0).more()).containsExactly(1);
      assertThat(batch(4, 3, 0).more()).isEmpty();
    }

    @Test
    @DisplayName("when it brought more than half of the bytes that it might")
    void bytes() {
      assertThat(batch(4, 2, 251).more()).containsExactly(1);
      assertThat(batch(4, 2, 250).more()).isEmpty();
    }

    @Test
    @DisplayName("when it brought messages of a blocked key, which is due again with what follows")
    void blocked() {
      gives.put(Status.BLOCKED, rows(1, Status.BLOCKED, 1, 1, 0));
      assertThat(chosen(9, 1_000, due(1, false, true)).more()).containsExactly(1);
    }
  }

  @Nested
  @DisplayName("moves out of the way")
  class Moves {

    @Test
    @DisplayName("what cannot be sent now, keeps the bucket, and says to poll again")
    void moves() {
      List<Row> found =
          List.of(
              toMove(1, 5, "k", Status.BLOCKED),
              toMove(1, 3, "k", Status.BLOCKED),
              toMove(1, 4, "k", Status.BLOCKED),
              toMove(1, 2, "later", Status.SCHEDULED));
      gives.put(Status.PENDING, found);
      Batch batch = chosen(9, 1_000, lease(1));
      assertThat(moved).containsExactlyInAnyOrderElementsOf(found);
      assertThat(lowered).as("read from").containsExactly(new Key(1, "k", 3));
      assertThat(batch.rows()).isEmpty();
      assertThat(batch.leases()).hasSize(1);
      assertThat(batch.more()).containsExactly(1);
      assertThat(batch.pollAgain()).isTrue();
    }

    @Test
    @DisplayName("blocked keys without messages, once")
    void emptyKeys() {
      gives.put(Status.BLOCKED, List.of(new EmptyKey(1, 7, "k")));
      BatchReader<String> reader = reader(9, 1_000);
      reader.read(List.of(due(1, false, true)));
      gives.put(Status.BLOCKED, List.of());
      reader.read(List.of(due(2, false, true)));
      assertThat(advanced).containsExactly(List.of(new Key(1, "k", 7)));
      assertThat(reader.choose(false).pollAgain()).isTrue();
    }
  }

  @Test
  @DisplayName("keeps of each bucket the state that the database gave it after the read")
  void states() {
    gives.put(Status.PENDING, List.of(row(1, 7, Status.PENDING, 0), row(2, 30, Status.PENDING, 0)));
    Batch batch = chosen(9, 1_000, lease(1), lease(2), lease(3));
    assertThat(batch.leases())
        .extracting(Lease::state)
        .containsExactly("state 1 read", "state 2 read");
    assertThat(batch.unused()).extracting(r -> r.lease().state()).containsExactly("state 3 read");
  }

  @Test
  @DisplayName("of no buckets asks nothing")
  void noBuckets() {
    reader(9, 1_000).read(List.of());
    assertThat(reads).isEmpty();
  }
}
