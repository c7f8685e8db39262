package dev.outbox.peers;

import dev.outbox.JoinedOutbox;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.spring.OutboxHandler;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import tools.jackson.databind.json.JsonMapper;

/**
 * This repository's, by its starter with all defaults.
 *
 * @param running the application that publishes
 */
record Ours(String name, String what, Class<?> running) implements Contender {
  static Ours publisher() {
    return new Ours(
        "outbox",
        "this repository's starter, all defaults; its publisher parses each message, as those of the others get it parsed",
        Publishing.class);
  }

  static Ours handlers() {
    return new Ours(
        "outbox, handlers",
        "the same with a handler that is called for each message",
        Handling.class);
  }

  @Override
  public App fill(DataSource dataSource, Clock clock) {
    return new OurApp(Filling.class, false, dataSource, clock, null);
  }

  @Override
  public App run(DataSource dataSource, Recorder recorder) {
    return new OurApp(running, true, dataSource, Clock.systemUTC(), recorder);
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration(
      excludeName = {Modulith.PUBLICATION, Modulith.EXTERNALIZATION, Modulith.JDBC})
  static class Filling {}

  static class Publishing extends Filling {
    @Bean
    ToRecorder publisher(Recorder recorder, JsonMapper json) {
      return new ToRecorder(recorder, json);
    }
  }

  static class Handling extends Filling {
    @Bean
    Handler handler(Recorder recorder) {
      return new Handler(recorder);
    }
  }

  /** Where its users call a service of their own. */
  record Handler(Recorder recorder) {
    @OutboxHandler
    public void placed(OrderPlaced message) {
      recorder.accept(message);
    }
  }

  /** After a message that failed, later ones of its key are held back. */
  record ToRecorder(Recorder recorder, JsonMapper json) implements MessagePublisher {
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

  private static final class OurApp extends App {
    private final JoinedOutbox outbox = context.getBean(JoinedOutbox.class);
    private final JsonMapper json = context.getBean(JsonMapper.class);

    OurApp(
        Class<?> configuration,
        boolean relay,
        DataSource dataSource,
        Clock clock,
        @Nullable Recorder recorder) {
      super(
          configuration,
          Map.of(
              "outbox.schema-mode", "migrate",
              "outbox.relay.enabled", relay,
              "namastack.outbox.enabled", "false"),
          dataSource,
          clock,
          recorder);
    }

    @Override
    void append(OrderPlaced message) {
      outbox.append(
          OutboxMessage.builder()
              .aggregate("order", message.key())
              .eventType("OrderPlaced")
              .payload(json.writeValueAsBytes(message))
              .build());
    }
  }
}
