package dev.outbox.example.readme;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.inbox.Begin;
import dev.outbox.inbox.Begin.Lock;
import dev.outbox.inbox.Fingerprint;
import dev.outbox.inbox.Inbox.InProgressException;
import dev.outbox.inbox.InboxKey;
import dev.outbox.inbox.InboxResult;
import dev.outbox.servlet.IdempotencyFilter;
import dev.outbox.store.postgres.PostgresInboxStore;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What docs/inbox.md shows. */
class InboxTest {
  private static final Logger log = LoggerFactory.getLogger(InboxTest.class);

  private final Shop shop = new Shop();
  private final DataSource dataSource = shop.dataSource;
  private final PostgresInboxStore inbox = PostgresInboxStore.of(dataSource);
  private final List<String> charged = new ArrayList<>();

  @BeforeEach
  void createTables() {
    inbox.migrate();
  }

  @AfterEach
  void close() throws Exception {
    shop.close();
  }

  @Test
  void oneTransaction() throws SQLException {
    DataSource dataSource = shop.dataSource;
    handle(dataSource, "m-1");
    handle(dataSource, "m-1"); // a second order of this id would fail
    assertThat(shop.state("order-1")).isEqualTo("PLACED");
  }

  private void handle(DataSource dataSource, String messageId) throws SQLException {
    // tag::first-time
    PostgresInboxStore inbox = PostgresInboxStore.of(dataSource); // one for the whole process
    inbox.migrate(); // creates the tables unless they are there

    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(false);
      try {
        if (inbox.firstTime(connection, new InboxKey("shipping", messageId))) {
          Shop.placeOrder(connection, "order-1"); // your effects, in this database
        }
        connection.commit(); // the effects and the record of them, or neither
      } catch (SQLException | RuntimeException e) {
        connection.rollback();
        throw e;
      }
    }
    // now acknowledge the message, or commit its offset
    // end::first-time
  }

  @Test
  void effectsElsewhere() {
    byte[] body = "12.50".getBytes(UTF_8);
    assertThat(charge("request-1", body)).isEqualTo("charged 12.50");
    assertThat(charge("request-1", body)).isEqualTo("charged 12.50");
    assertThat(charge("request-1", "99".getBytes(UTF_8))).isEqualTo("another request");
    assertThat(charged).containsExactly("12.50");
  }

  private String charge(String messageId, byte[] body) {
    InboxKey key = new InboxKey("payments", messageId);
    // tag::begin
    Begin<Connection> begin = inbox.begin(key, Duration.ofSeconds(30), Fingerprint.of(body));
    if (begin instanceof Begin.Started<Connection> started) {
      Lock<Connection> lock = started.lock();
      try {
        String answer = callOtherService(messageId, body);
        lock.complete(InboxResult.of(answer.getBytes(UTF_8), "text/plain"));
        return answer;
      } catch (RuntimeException e) {
        lock.release(e.toString()); // another try may begin at once
        throw e;
      }
    } else if (begin instanceof Begin.Done<Connection> done) {
      return new String(done.result().content(), UTF_8); // the first answer, once more
    } else if (begin instanceof Begin.InProgress<Connection> other) {
      throw new InProgressException(key, other.left()); // come again after that
    }
    return "another request"; // Begin.Mismatch: the sender has used this key before
    // end::begin
  }

  private String callOtherService(String messageId, byte[] body) {
    assertThat(messageId).isNotEmpty();
    charged.add(new String(body, UTF_8));
    return "charged " + new String(body, UTF_8);
  }

  /** What it does, its own test tries over HTTP. */
  @Test
  void requests() {
    // tag::filter
    IdempotencyFilter filter =
        IdempotencyFilter.builder(inbox, "orders") // requests with one key are the same in "orders"
            .lock(Duration.ofSeconds(30)) // longer than a request takes
            .build();
    // end::filter
    assertThat(filter).isNotNull();
  }

  @Test
  void housekeeping() {
    PostgresInboxStore inbox =
        PostgresInboxStore.builder(dataSource).retention(Duration.ofMillis(1)).build();
    inbox.begin(new InboxKey("shipping", "old"), Duration.ofMillis(1));
    ScheduledExecutorService scheduler = Executors.newSingleThreadScheduledExecutor();
    // tag::housekeeping
    scheduler.scheduleWithFixedDelay(
        () -> {
          try {
            inbox.housekeep();
          } catch (RuntimeException e) { // else the scheduler would not come again
            log.warn("The inbox was not purged", e);
          }
        },
        0,
        1,
        TimeUnit.MINUTES);
    // end::housekeeping
    await()
        .until(
            () -> {
              inbox.housekeep();
              return inbox.statistics(10).expiredLocks() == 0;
            });
    scheduler.shutdownNow();
  }
}
