package dev.outbox.publisher.nats;

import dev.outbox.embedded.EmbeddedServer;
import dev.outbox.embedded.TestServer;
import io.nats.client.Connection;
import io.nats.client.FetchConsumeOptions;
import io.nats.client.FetchConsumer;
import io.nats.client.JetStreamApiException;
import io.nats.client.Message;
import io.nats.client.Nats;
import io.nats.client.Options;
import io.nats.client.StreamContext;
import io.nats.client.api.DeliverPolicy;
import io.nats.client.api.OrderedConsumerConfiguration;
import io.nats.client.api.StorageType;
import io.nats.client.api.StreamConfiguration;
import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.UnaryOperator;
import org.opentest4j.TestAbortedException;

/** The server that all tests of this module share; streams are each test's own. */
final class TestNats {
  private static final TestServer server = TestServer.nats();

  private TestNats() {}

  static String url() {
    return server.address();
  }

  /** The server as one that can be stopped. */
  static EmbeddedServer embedded() {
    return server
        .embedded()
        .orElseThrow(
            () -> new TestAbortedException("skipped: only the embedded NATS can be stopped"));
  }

  static NatsPublisher.Builder publisher() {
    return NatsPublisher.builder().servers(url()).timeout(Duration.ofSeconds(8));
  }

  static Connection connect(String url) throws IOException, InterruptedException {
    return Nats.connect(
        new Options.Builder().server(url).maxReconnects(0).errorListener(new Silent()).build());
  }

  /** A name that no other test has, for a stream and the first token of its subjects. */
  static String name() {
    return "test-" + UUID.randomUUID();
  }

  /** A new stream of the subjects below its name. */
  static String stream(UnaryOperator<StreamConfiguration.Builder> settings) {
    return stream(url(), name(), settings);
  }

  static String stream(
      String url, String name, UnaryOperator<StreamConfiguration.Builder> settings) {
    try (Connection connection = connect(url)) {
      StreamConfiguration.Builder stream =
          StreamConfiguration.builder()
              .name(name)
              .subjects(name + ".>")
              .storageType(StorageType.File);
      connection.jetStreamManagement().addStream(settings.apply(stream).build());
      return name;
    } catch (IOException | JetStreamApiException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** All messages of a stream, in its order. */
  static List<Message> read(String name) {
    return read(url(), name);
  }

  static List<Message> read(String url, String name) {
    List<Message> messages = new ArrayList<>();
    try (Connection connection = connect(url)) {
      StreamContext stream = connection.getStreamContext(name);
      long all = stream.getStreamInfo().getStreamState().getMsgCount();
      while (messages.size() < all) {
        FetchConsumeOptions some =
            FetchConsumeOptions.builder()
                .maxMessages((int) Math.min(500, all - messages.size()))
                .expiresIn(30_000)
                .build();
        OrderedConsumerConfiguration from = new OrderedConsumerConfiguration();
        if (!messages.isEmpty()) {
          from.deliverPolicy(DeliverPolicy.ByStartSequence);
          from.startSequence(messages.get(messages.size() - 1).metaData().streamSequence() + 1);
        }
        try (FetchConsumer fetch = stream.createOrderedConsumer(from).fetch(some)) {
          for (Message next = fetch.nextMessage(); next != null; next = fetch.nextMessage()) {
            messages.add(next);
          }
        }
      }
      return messages;
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  /** A header as a consumer reads it; null when there is none. */
  static String header(Message message, String name) {
    String value = message.getHeaders().getLast(name);
    return value == null
        ? null
        : URLDecoder.decode(value.replace("+", "%2B"), StandardCharsets.UTF_8);
  }
}
