package dev.outbox.dev.demo;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.outbox.cli.Failure;
import dev.outbox.dev.BrokerKind;
import java.net.URLDecoder;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The broker of a demo, with a place in it for each of {@link Customers#TYPES} that only this demo
 * uses. What goes wrong is a {@link Failure} that says it in a sentence.
 */
interface DemoBroker extends AutoCloseable {

  /**
   * Does not start it yet.
   *
   * @param name of the demo, which no other one has
   */
  static DemoBroker of(DemoSettings settings, String name) {
    return switch (settings.broker()) {
      case KAFKA -> new DemoKafka(settings.bootstrapServers(), name);
      case RABBITMQ -> new DemoRabbit(name);
      case NATS -> new DemoNats(name);
      case HTTP -> new DemoHttp();
    };
  }

  /** For people, as {@code Kafka}. */
  String label();

  /** Starts it, unless it is the user's, and makes the places. */
  void start();

  /** Where it is, without secrets. */
  String address();

  /** What relays' properties say of it. */
  Map<String, String> relayProperties();

  /** Begins to read what relays have published. */
  Source source();

  /** Where a consumer in another process finds it: for {@link #source(BrokerKind, Place)}. */
  Place place();

  /**
   * Reads it as a consumer of its own, that goes on from what was acknowledged last; or again from
   * the beginning, where nobody but the consumer knows how far it was.
   */
  static Source source(BrokerKind kind, Place place) {
    return switch (kind) {
      case KAFKA -> DemoKafka.source(place);
      case RABBITMQ -> DemoRabbit.source(place);
      case NATS -> DemoNats.source(place);
      case HTTP -> DemoHttp.source(place);
    };
  }

  /**
   * @param address of the server, with its user; or a file
   * @param name of what is read there
   */
  record Place(String address, String name) {}

  /** How to look at what is in it, a line each. */
  List<String> waysToLook();

  /** Whether it is ours to stop. */
  boolean canStop();

  void stop();

  /** Starts it again, with all that it has acknowledged. */
  void restart();

  /** What it writes, where that can be read. */
  Optional<Path> log();

  /** Ends it; removes what was made where it is the user's. */
  @Override
  void close();

  /** Is told what is read. */
  interface Sink {
    void received(UUID id, String key);

    /** All of a poll was received, and is acknowledged when this returns. */
    default void complete() throws InterruptedException {}

    /**
     * The same as headers of ASCII have it.
     *
     * @param id null: there was none, and nobody has appended one of zeros
     */
    default void received(@Nullable String id, @Nullable String percentEncodedKey) {
      String key = String.valueOf(percentEncodedKey).replace("+", "%2B"); // a plus is a plus
      received(id == null ? new UUID(0, 0) : UUID.fromString(id), URLDecoder.decode(key, UTF_8));
    }
  }

  /**
   * Reads all that is in the broker, in the order of each key, through outages. Used by one thread
   * after it was made by another.
   */
  interface Source extends AutoCloseable {
    /** Reads what is there; waits a moment where nothing is. */
    void poll(Sink sink) throws InterruptedException;

    /** Returns what tells whether all was read that is in the broker by now. */
    BooleanSupplier end();

    @Override
    void close();
  }
}
