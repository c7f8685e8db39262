package dev.outbox.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.embedded.TcpProxy;
import dev.outbox.spi.store.Claim;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.sql.DataSource;

/**
 * A client that stops in the middle of a large result, as one that got SIGSTOP: it takes nothing
 * any more, and all sockets between are full.
 */
public final class StalledReader implements AutoCloseable {
  private static final Pattern ADDRESS = Pattern.compile("//([^/:]+):(\\d+)/");

  /** So small that what the server sends does not disappear in it. */
  private static final int BUFFER = 16_384;

  private static final int READ_BEFORE = 1_000_000;

  /** How much of what the server sends gets through. */
  private final AtomicLong left = new AtomicLong(Long.MAX_VALUE);

  private final CompletableFuture<Void> hasStalled = new CompletableFuture<>();
  private final TcpProxy proxy = new TcpProxy(BUFFER, this::passes);
  private final HikariDataSource pool;

  /**
   * @param config of a pool on the server, which is changed
   */
  public StalledReader(HikariConfig config) throws IOException {
    Matcher address = ADDRESS.matcher(config.getJdbcUrl());
    assertThat(address.find()).isTrue();
    proxy.target(address.group(1), Integer.parseInt(address.group(2)));
    config.setJdbcUrl(address.replaceFirst("//127.0.0.1:" + proxy.port() + "/"));
    config.setMaximumPoolSize(1);
    pool = new HikariDataSource(config);
  }

  private boolean passes(TcpProxy.Link link, boolean fromServer, byte[] bytes, int n) {
    if (fromServer && left.addAndGet(-n) < 0 && !hasStalled.isDone()) {
      link.stall();
      boolean unused = hasStalled.complete(null);
    }
    return true;
  }

  /** Returns when it stands still in the middle of what the claim reads. */
  public CompletableFuture<Claim> claim(
      Function<DataSource, JdbcOutboxStore> stores, Claim.Request request) throws Exception {
    JdbcOutboxStore store = stores.apply(pool);
    store.verify();
    left.set(READ_BEFORE);
    CompletableFuture<Claim> claim =
        CompletableFuture.supplyAsync(() -> store.claim(request), Background.THREADS);
    hasStalled.get(1, TimeUnit.MINUTES);
    return claim;
  }

  /** Lets it read on, into whatever has become of its connection. */
  public void goOn() {
    proxy.links().forEach(TcpProxy.Link::heal);
  }

  @Override
  public void close() throws IOException {
    proxy.close();
    pool.close();
  }
}
