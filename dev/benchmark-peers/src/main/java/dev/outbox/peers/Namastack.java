package dev.outbox.peers;

import io.namastack.outbox.Outbox;
import io.namastack.outbox.handler.OutboxRecordMetadata;
import io.namastack.outbox.handler.OutboxTypedHandler;
import java.time.Clock;
import java.util.HashMap;
import java.util.Map;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * namastack-outbox with its JDBC starter: a handler for each message, called one by one in the
 * order of each key. It polls, by numbers of keys.
 */
record Namastack(String name, String setting, int connections, Map<String, Object> properties)
    implements Contender {
  private static final String INTERVAL = "namastack.outbox.polling.fixed.interval";

  static Namastack defaults() {
    return new Namastack(
        "namastack",
        "all defaults: 10 keys a poll, each 2 s, 4 to 8 threads, completed records stay",
        CONNECTIONS,
        Map.of());
  }

  /** What its documentation calls the candidate for platform threads. */
  static Namastack tuned() {
    return new Namastack(
        "namastack, tuned",
        "as its page on tuning recommends without virtual threads: 1,000 keys a poll, each 25 ms, 16 to 32 threads, heartbeats each second; 20 connections",
        20,
        Map.of(
            "namastack.outbox.polling.batch-size",
            "1000",
            INTERVAL,
            "25ms",
            "namastack.outbox.processing.executor-core-pool-size",
            "16",
            "namastack.outbox.processing.executor-max-pool-size",
            "32",
            "namastack.outbox.instance.heartbeat-interval",
            "1s",
            "namastack.outbox.instance.stale-instance-timeout",
            "10s",
            "namastack.outbox.instance.rebalance-interval",
            "1s"));
  }

  @Override
  public String what() {
    return "namastack-outbox-starter-jdbc %s, %s".formatted(Versions.of("namastack"), setting);
  }

  @Override
  public App fill(DataSource dataSource, Clock clock) {
    Map<String, Object> idle = new HashMap<>(properties);
    idle.put(INTERVAL, "1h");
    return new NamastackApp(idle, dataSource, clock, new Recorder(m -> {}));
  }

  @Override
  public App run(DataSource dataSource, Recorder recorder) {
    return new NamastackApp(properties, dataSource, Clock.systemUTC(), recorder);
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration(
      excludeName = {Modulith.PUBLICATION, Modulith.EXTERNALIZATION, Modulith.JDBC})
  static class Application {
    @Bean
    Handler handler(Recorder recorder) {
      return new Handler(recorder);
    }
  }

  /** Where its users call a broker. */
  static final class Handler implements OutboxTypedHandler<OrderPlaced> {
    private final Recorder recorder;

    Handler(Recorder recorder) {
      this.recorder = recorder;
    }

    @Override
    public void handle(OrderPlaced payload, @Nullable OutboxRecordMetadata metadata) {
      recorder.accept(payload);
    }
  }

  private static final class NamastackApp extends App {
    private final Outbox outbox;

    NamastackApp(
        Map<String, Object> properties, DataSource dataSource, Clock clock, Recorder recorder) {
      super(Application.class, withoutOurs(properties), dataSource, clock, recorder);
      outbox = context.getBean(Outbox.class);
    }

    private static Map<String, Object> withoutOurs(Map<String, Object> properties) {
      Map<String, Object> all = new HashMap<>(properties);
      all.put("outbox.enabled", "false");
      return all;
    }

    @Override
    void append(OrderPlaced message) {
      outbox.schedule(message, message.key());
    }
  }
}
