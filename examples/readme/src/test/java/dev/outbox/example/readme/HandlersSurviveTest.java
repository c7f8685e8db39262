package dev.outbox.example.readme;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.OutboxMessage;
import dev.outbox.embedded.ChildJvm;
import dev.outbox.embedded.ParentJvm;
import dev.outbox.inbox.InboxKey;
import dev.outbox.publisher.handler.HandlerPublisher;
import dev.outbox.relay.Relay;
import dev.outbox.relay.RetryPolicy;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.postgres.PostgresInboxStore;
import dev.outbox.store.postgres.PostgresOutboxStore;
import java.io.IOException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Handlers in two processes that fail, hang, and end their process in the middle of the work. */
class HandlersSurviveTest {
  private static final int MESSAGES = 10_000;
  private static final int KEYS = 100;
  private static final int A_TRANSACTION = 100;

  /** The handler of each so many-th message ends its process, once. */
  private static final int FATAL = 5_000;

  private static final String READY = "ready";
  private static final String END = "end";

  private final Map<String, List<Integer>> expected = new HashMap<>();

  @Test
  @DisplayName("with the inbox each effect happens once, and those of a key in order")
  void onceAndInOrder() throws Exception {
    long seed = Long.getLong("outbox.seed", System.nanoTime());
    System.out.println("HandlersSurviveTest: run again with -Doutbox.seed=" + seed);
    try (Shop shop = new Shop()) {
      append(shop, new Random(seed));
      List<ChildJvm> children = new ArrayList<>(List.of(start(shop, seed + 1), start(shop, seed + 2)));
      try {
        await()
            .atMost(Duration.ofMinutes(5))
            .until(
                () -> {
                  boolean isEmpty = count(shop, "outbox_message") == 0;
                  for (int i = 0; i < 2; i++) {
                    if (!children.get(i).isAlive()) {
                      children.get(i).close();
                      children.set(i, start(shop, seed + 3 + count(shop, "fatal")));
                      isEmpty = false;
                    }
                  }
                  return isEmpty;
                });
        children.forEach(child -> child.send(END));
        assertThat(children).extracting(ChildJvm::exitCode).containsOnly(0);
      } finally {
        children.forEach(ChildJvm::close);
      }
      assertThat(count(shop, "fatal")).isEqualTo(MESSAGES / FATAL);
      assertThat(count(shop, "run")).isGreaterThan(MESSAGES);
      assertThat(bookings(shop)).isEqualTo(expected);
    }
  }

  private void append(Shop shop, Random random) throws Exception {
    PostgresOutboxStore outbox = PostgresOutboxStore.of(shop.dataSource);
    outbox.migrate();
    PostgresInboxStore.of(shop.dataSource).migrate();
    Jdbi.create(shop.dataSource)
        .useHandle(
            handle ->
                handle.execute(
                    """
                    create table booking (place bigserial, account text, amount int);
                    create table run (message int);
                    create table fatal (message int primary key)
                    """));
    try (Connection connection = shop.dataSource.getConnection()) {
      connection.setAutoCommit(false);
      for (int i = 0; i < MESSAGES; i++) {
        String account = "a" + random.nextInt(KEYS);
        expected.computeIfAbsent(account, key -> new ArrayList<>()).add(i);
        outbox.append(
            connection,
            OutboxMessage.builder()
                .aggregate("account", account)
                .eventType("Booked")
                .payload("" + i)
                .build());
        if (i % A_TRANSACTION == A_TRANSACTION - 1) {
          connection.commit();
        }
      }
    }
  }

  private static ChildJvm start(Shop shop, long seed) {
    Map<String, String> settings = new LinkedHashMap<>(shop.settings());
    settings.put("seed", "" + seed);
    ChildJvm child = ChildJvm.start(Handling.class, settings);
    child.await(READY);
    return child;
  }

  private static int count(Shop shop, String table) {
    return Jdbi.create(shop.dataSource)
        .withHandle(
            handle -> handle.createQuery("select count(*) from " + table).mapTo(int.class).one());
  }

  private static Map<String, List<Integer>> bookings(Shop shop) {
    Map<String, List<Integer>> bookings = new HashMap<>();
    Jdbi.create(shop.dataSource)
        .useHandle(
            handle ->
                handle
                    .createQuery("select account, amount from booking order by place")
                    .mapToMap()
                    .forEach(
                        row ->
                            bookings
                                .computeIfAbsent((String) row.get("account"), k -> new ArrayList<>())
                                .add((Integer) row.get("amount"))));
    return bookings;
  }

  /** A process with a relay, until it is told to end. */
  static final class Handling {
    private final HikariDataSource dataSource;
    private final PostgresInboxStore inbox;
    private final Random random;

    private Handling(ParentJvm parent) {
      dataSource =
          Shop.dataSource(
              parent.get("url"), parent.get("user"), parent.get("password"), parent.get("schema"));
      inbox = PostgresInboxStore.of(dataSource);
      random = new Random(Long.parseLong(parent.get("seed")));
    }

    public static void main(String[] arguments) throws Exception {
      ParentJvm parent = ParentJvm.connect();
      Handling handling = new Handling(parent);
      RetryPolicy often =
          RetryPolicy.builder()
              .maxAttempts(100)
              .firstDelay(Duration.ofMillis(1))
              .maxDelay(Duration.ofMillis(10))
              .build();
      try (HandlerPublisher handlers =
              HandlerPublisher.builder()
                  .on("Booked", handling::handle)
                  .timeout(Duration.ofSeconds(1))
                  .concurrency(5)
                  .build();
          Relay relay =
              Relay.builder(PostgresOutboxStore.of(handling.dataSource), handlers)
                  .retryPolicy(often)
                  .build()) {
        relay.start();
        parent.say(READY);
        while (!parent.command().equals(END)) {
          // nothing else is said
        }
      }
      Runtime.getRuntime().halt(0);
    }

    private void handle(StoredMessage message) throws Exception {
      int number = Integer.parseInt(new String(message.message().payload()));
      note("insert into run values (?)", number);
      goesWrong();
      InboxKey key = new InboxKey("booking", message.message().id().toString());
      try (Connection connection = dataSource.getConnection()) {
        connection.setAutoCommit(false);
        try {
          if (inbox.firstTime(connection, key)) {
            book(connection, message.message().aggregateId(), number);
          }
          if (number % FATAL == FATAL / 2
              && note("insert into fatal values (?) on conflict do nothing", number) == 1) {
            Runtime.getRuntime().halt(1);
          }
          connection.commit();
        } catch (Exception e) {
          connection.rollback();
          throw e;
        }
      }
      goesWrong(); // the effects are there, and it comes again
    }

    private static void book(Connection connection, String account, int amount)
        throws SQLException {
      try (PreparedStatement insert =
          connection.prepareStatement("insert into booking (account, amount) values (?, ?)")) {
        insert.setString(1, account);
        insert.setInt(2, amount);
        insert.executeUpdate();
      }
    }

    private int note(String sql, int number) {
      return Jdbi.create(dataSource).withHandle(handle -> handle.execute(sql, number));
    }

    private void goesWrong() throws Exception {
      int dice = random.nextInt(1_000);
      if (dice < 2) {
        new CountDownLatch(1).await(); // hangs
      } else if (dice < 20) {
        throw new IOException("at random");
      } else if (dice < 30) {
        throw new StackOverflowError();
      }
    }
  }
}
