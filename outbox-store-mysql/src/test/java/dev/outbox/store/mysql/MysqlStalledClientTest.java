package dev.outbox.store.mysql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.OutboxMessage;
import dev.outbox.TransientOutboxException;
import dev.outbox.embedded.TcpProxy;
import dev.outbox.spi.store.Claim;
import dev.outbox.store.jdbc.Background;
import dev.outbox.store.jdbc.DatabaseTests;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** C4, where the server waits for the client to take what it asked for, not for a statement. */
@ParameterizedClass
@EnumSource
@DisplayName("A client that stops while a large result is on its way")
class MysqlStalledClientTest extends DatabaseTests {
  private static final Pattern ADDRESS = Pattern.compile("//([^/:]+):(\\d+)/");
  private static final int MESSAGES = 60;

  /** Together more than what the sockets between can hold. */
  private static final int SIZE = 900_000;

  /** So small that what the server sends does not disappear in it. */
  private static final int BUFFER = 16_384;

  /** How much of what the server sends gets through. */
  private final AtomicLong left = new AtomicLong(Long.MAX_VALUE);

  private final CompletableFuture<Void> hasStalled = new CompletableFuture<>();

  MysqlStalledClientTest(Tested tested) {
    super(tested);
  }

  private void append() {
    for (int i = 0; i < MESSAGES; i++) {
      OutboxMessage message =
          OutboxMessage.builder()
              .aggregate("order", "order " + i % 4)
              .eventType("Placed")
              .payload(new byte[SIZE])
              .build();
      database.inTransaction(false, c -> assertThat(store.append(c, message).allStored()).isTrue());
    }
  }

  private boolean passes(TcpProxy.Link link, boolean fromServer, byte[] bytes, int n) {
    if (fromServer && left.addAndGet(-n) < 0) {
      link.stall();
      boolean unused = hasStalled.complete(null);
    }
    return true;
  }

  private HikariDataSource through(TcpProxy proxy) {
    Matcher address = ADDRESS.matcher(database.server().jdbcUrl());
    assertThat(address.find()).isTrue();
    proxy.target(address.group(1), Integer.parseInt(address.group(2)));
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(address.replaceFirst("//127.0.0.1:" + proxy.port() + "/"));
    config.setCatalog(database.schema());
    config.setUsername(database.server().user());
    config.setPassword(database.server().password());
    config.setMaximumPoolSize(1);
    return new HikariDataSource(config);
  }

  private static Claim.Request request(Duration lease) {
    return new Claim.Request("test", MESSAGES, 1L << 30, lease);
  }

  @Test
  @DisplayName("holds its buckets for about the lease, and then claims anew")
  void somebodyElseTakesOver() throws Exception {
    append();
    try (TcpProxy proxy = new TcpProxy(BUFFER, this::passes);
        HikariDataSource pool = through(proxy)) {
      JdbcOutboxStore stalled = builder(pool).build();
      stalled.verify();
      left.set(1_000_000);
      CompletableFuture<Claim> claim =
          CompletableFuture.supplyAsync(
              () -> stalled.claim(request(Duration.ofSeconds(3))), Background.THREADS);
      hasStalled.get(1, TimeUnit.MINUTES);
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
      proxy.close();
      assertThatThrownBy(() -> claim.get(2, TimeUnit.MINUTES))
          .isInstanceOf(ExecutionException.class)
          .hasCauseInstanceOf(TransientOutboxException.class);
    }
  }
}
