package dev.outbox.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import dev.outbox.TransientOutboxException;
import dev.outbox.spi.store.Claim;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** C4, where the server waits for the client to take what it asked for, not for a statement. */
@DisplayName("A client that stops while a large result is on its way")
public abstract class StalledReaderTests extends DatabaseTests {
  private static final int MESSAGES = 60;

  /** Together more than what the sockets between can hold. */
  private static final int SIZE = 900_000;

  protected StalledReaderTests(TestedStore tested) {
    super(tested);
  }

  private static Claim.Request request(Duration lease) {
    return new Claim.Request("test", MESSAGES, 1L << 30, lease);
  }

  @Test
  @DisplayName("holds its buckets for about the lease, and then claims anew")
  void somebodyElseTakesOver() throws Exception {
    for (int i = 0; i < MESSAGES; i++) {
      append(message(new byte[SIZE]));
    }
    HikariConfig config = new HikariConfig();
    database.pool.copyStateTo(config);
    try (StalledReader stalled = new StalledReader(config)) {
      CompletableFuture<Claim> claim =
          stalled.claim(pool -> builder(pool).build(), request(Duration.ofSeconds(3)));
      assertThat(store.claim(request(Duration.ofMinutes(5))).messages())
          .as("while its buckets are locked")
          .isEmpty();
      Set<Long> taken = new HashSet<>();
      await()
          .atMost(Duration.ofMinutes(2))
          .until(
              () -> {
                store
                    .claim(request(Duration.ofMinutes(5)))
                    .messages()
                    .forEach(m -> taken.add(m.sequence()));
                return taken.size() == MESSAGES;
              });
      stalled.goOn();
      assertThatThrownBy(() -> claim.get(2, TimeUnit.MINUTES))
          .isInstanceOf(ExecutionException.class)
          .hasCauseInstanceOf(TransientOutboxException.class);
    }
  }
}
