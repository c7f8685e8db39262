package dev.outbox.dev.bench;

import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import dev.outbox.dev.database.Jdbc;
import dev.outbox.dev.database.JdbcPlace;
import dev.outbox.dev.database.Place.Business;
import dev.outbox.dev.database.StoreKind;
import dev.outbox.inbox.Inbox;
import dev.outbox.inbox.InboxKey;
import dev.outbox.relay.Relay;
import dev.outbox.spi.store.KeepingStore.Uncommitted;
import dev.outbox.spi.store.KeepingStore.Uncommitted.Committed;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** One client with business transactions, on a connection of its own. Used by one thread. */
record BenchClient(JdbcPlace place, Business<Connection> business, Inbox<Connection> inbox)
    implements AutoCloseable {
  private static final String BUSINESS =
      "insert into ${q}business (customer, amount) values ('customer-1', 1250)";

  private static final String INSERT =
      """
      insert into ${q}like_message (id, aggregate_type, aggregate_id, event_type, partition_key,
        payload, content_type, headers, dedup_key, correlation_id, max_attempts, available_at)
      values\s""";

  /** Who tells a relay that there is something. */
  enum Woken {
    AFTER_COMMITS("same process, woken after commits"),
    NOT("another process"),
    HANDED_OVER("same process, handed over");

    final String label;

    Woken(String label) {
      this.label = label;
    }
  }

  static final String ORDER = "order";

  private static final int PAYLOAD = 200;

  BenchClient(JdbcPlace place) {
    this(place, place.begin());
  }

  private BenchClient(JdbcPlace place, Business<Connection> business) {
    this(place, business, place.inbox(null));
  }

  /** One beside a relay on the place's store. */
  static BenchClient beside(Relay relay, Woken woken, JdbcPlace place) {
    return switch (woken) {
      case NOT -> new BenchClient(place);
      case AFTER_COMMITS ->
          new BenchClient(
              place,
              place.begin(
                  (on, messages) ->
                      Uncommitted.of(
                          place.store().append(on, messages),
                          () -> {
                            relay.wake();
                            return Committed.UNKNOWN;
                          })));
      case HANDED_OVER ->
          new BenchClient(
              place, place.begin((on, messages) -> relay.append(place.store(), on, messages)));
    };
  }

  /** A message of an order. */
  static OutboxMessage message(int order) {
    return order("order-" + order).build();
  }

  /** One that waits for no other. */
  static OutboxMessage unordered() {
    return order("order").unordered().build();
  }

  private static OutboxMessage.Builder order(String id) {
    return OutboxMessage.builder()
        .aggregate(ORDER, id)
        .eventType("OrderPlaced")
        .payload(new byte[PAYLOAD]);
  }

  /** One transaction with one business row, and messages to a side. */
  void transaction(BenchDatabase.Side side, List<OutboxMessage> messages) {
    insertRow();
    append(side, messages);
  }

  /** Appends, and commits. */
  void append(BenchDatabase.Side side, List<OutboxMessage> messages) {
    switch (side) {
      case OURS -> {
        Set<UUID> ignored = business.append(messages);
      }
      case LIMIT -> bare(messages);
      case NEITHER -> {}
    }
    business.commit();
  }

  private void insertRow() {
    JdbcPlace.tried(business.transaction(), on -> Jdbc.update(on, place.qualified(BUSINESS)));
  }

  private void bare(List<OutboxMessage> messages) {
    boolean isPostgres = place.kind() == StoreKind.POSTGRES;
    List<@Nullable Object> parameters = new ArrayList<>();
    for (OutboxMessage message : messages) {
      parameters.add(isPostgres ? message.id() : message.id().toString());
      parameters.add(message.aggregateType());
      parameters.add(message.aggregateId());
      parameters.add(message.eventType());
      parameters.add(message.partitionKey());
      parameters.add(message.payload());
      parameters.add(message.contentType());
      parameters.add(Header.toJson(message.headers()));
      parameters.add(message.dedupKey());
      parameters.add(message.correlationId());
      parameters.add(message.maxAttempts());
      parameters.add(null); // when it is due: at once
    }
    String row = place.kind().sql("limit row");
    String sql =
        place.qualified(INSERT) + String.join(", ", Collections.nCopies(messages.size(), row));
    JdbcPlace.tried(business.transaction(), on -> Jdbc.update(on, sql, parameters.toArray()));
  }

  /**
   * One transaction of a consumer with one business row.
   *
   * @param key recorded in an inbox in the same database; null: nothing is
   */
  void consume(@Nullable InboxKey key) {
    if (key != null && !inbox.firstTime(business.transaction(), key)) {
      throw new IllegalStateException(key + " came before");
    }
    insertRow();
    business.commit();
  }

  @Override
  public void close() {
    business.close();
  }
}
