package dev.outbox.dev.torture;

import dev.outbox.dev.BrokerKind;
import dev.outbox.embedded.EmbeddedServer;
import dev.outbox.spi.publisher.MessagePublisher;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** Where one broker differs from another, for those who reach it by an address. */
interface Broker {

  /** Those that can be tortured. */
  List<BrokerKind> KINDS = List.of(BrokerKind.KAFKA, BrokerKind.RABBITMQ);

  /**
   * A server that was started.
   *
   * @param address where others reach it by way of a proxy
   */
  record Started(EmbeddedServer server, String address) {}

  /** Starts one behind a proxy, which it then leads to. */
  static Started start(BrokerKind kind, TcpProxy proxy) {
    return kind == BrokerKind.RABBITMQ ? RabbitBroker.start(proxy) : KafkaBroker.start(proxy);
  }

  /** Connects to nothing yet. */
  static Broker of(BrokerKind kind, String address) {
    return kind == BrokerKind.RABBITMQ ? new RabbitBroker(address) : new KafkaBroker(address);
  }

  /** Makes a place for each of {@link Work#topic}, which takes {@link Work#MOST_BYTES}. */
  void createTopics() throws Exception;

  /** What relays use. */
  MessagePublisher publisher(Duration timeout);

  /** Consumes, as one of a group, until it is ending; begins anew when something fails. */
  void consume(BooleanSupplier ending, Consumer<Delivery> got) throws InterruptedException;

  /** All that it has, in the order of each partition. */
  List<Delivery> readLog() throws Exception;

  /** The names of the topics. */
  static List<String> topics() {
    String[] topics = new String[Work.topics()];
    Arrays.setAll(topics, Work::topic);
    return List.of(topics);
  }
}
