package dev.outbox.peers;

import dev.outbox.Appended;
import dev.outbox.Outbox;
import dev.outbox.OutboxMessage;
import dev.outbox.relay.Relay;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.postgres.PostgresOutboxStore;
import java.sql.Connection;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import tools.jackson.databind.json.JsonMapper;

/**
 * This repository's. The publisher parses each message, as those of the others get it parsed.
 *
 * @param afterCommits whether the relay is woken after each commit, or by appends
 */
record Ours(String name, String what, boolean afterCommits) implements Contender {
  static Ours defaults() {
    return new Ours(
        "outbox",
        "this repository's, all defaults: 2 workers, batches of 1,000, woken by appends of its own process",
        false);
  }

  static Ours tuned() {
    return new Ours("outbox, tuned", "woken after each commit of its own process", true);
  }

  @Override
  public App fill(DataSource dataSource, Clock clock) {
    return new OurApp(this, dataSource, clock, null);
  }

  @Override
  public App run(DataSource dataSource, Recorder recorder) {
    return new OurApp(this, dataSource, Clock.systemUTC(), recorder);
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration(
      excludeName = {Modulith.PUBLICATION, Modulith.EXTERNALIZATION, Modulith.JDBC})
  static class Application {}

  private static final class OurApp extends SpringApp {
    private final JsonMapper json = new JsonMapper();
    private final Outbox<Connection> outbox;
    private final @Nullable Relay relay;
    private final boolean afterCommits;

    OurApp(Ours settings, DataSource dataSource, Clock clock, @Nullable Recorder recorder) {
      super(
          Application.class,
          Map.of("namastack.outbox.enabled", "false"),
          dataSource,
          clock,
          recorder);
      PostgresOutboxStore store = PostgresOutboxStore.of(dataSource);
      store.migrate();
      relay =
          recorder == null ? null : Relay.builder(store, new ToRecorder(recorder, json)).build();
      afterCommits = settings.afterCommits();
      outbox = relay == null || afterCommits ? store : relay.wakeOnAppend(store);
    }

    @Override
    public void begin() {
      if (relay != null) {
        relay.start();
      }
    }

    @Override
    void append(OrderPlaced message) {
      OutboxMessage appended =
          OutboxMessage.builder()
              .aggregate("order", message.key())
              .eventType("OrderPlaced")
              .payload(json.writeValueAsBytes(message))
              .build();
      jdbc.execute((ConnectionCallback<Appended>) c -> outbox.append(c, appended));
      if (relay != null && afterCommits) {
        TransactionSynchronizationManager.registerSynchronization(new Waking(relay));
      }
    }

    @Override
    public void close() {
      if (relay != null) {
        relay.close();
      }
      super.close();
    }
  }

  private record Waking(Relay relay) implements TransactionSynchronization {
    @Override
    public void afterCommit() {
      relay.wake();
    }
  }

  /** After a message that failed, later ones of its key are held back. */
  private record ToRecorder(Recorder recorder, JsonMapper json) implements MessagePublisher {
    @Override
    public List<Result> publish(List<StoredMessage> messages) {
      List<Result> results = new ArrayList<>();
      Set<String> held = new HashSet<>();
      for (StoredMessage message : messages) {
        if (held.contains(message.key())) {
          results.add(Result.failed("one before it failed"));
          continue;
        }
        try {
          recorder.accept(json.readValue(message.message().payload(), OrderPlaced.class));
          results.add(Result.delivered());
        } catch (Recorder.Refused e) {
          held.add(message.key());
          results.add(Result.failed(String.valueOf(e.getMessage())));
        }
      }
      return results;
    }
  }
}
