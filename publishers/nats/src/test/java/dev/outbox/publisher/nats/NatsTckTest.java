package dev.outbox.publisher.nats;

import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import dev.outbox.embedded.EmbeddedServer;
import dev.outbox.embedded.EmbeddedTck;
import dev.outbox.publisher.core.Destination;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.publisher.PublisherTck;
import io.nats.client.Connection;
import io.nats.client.Message;
import io.nats.client.Subscription;
import io.nats.client.api.DiscardPolicy;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;

/** The TCK on a real server. */
class NatsTckTest extends EmbeddedTck
    implements PublisherTck.BrokerRejects,
        PublisherTck.DestinationMissing,
        PublisherTck.DestinationNotDurable,
        PublisherTck.DestinationHangs {
  private static final String SILENT = TestNats.name();

  private String stream;
  private String small;
  private String full;
  private Connection listener;

  @Override
  protected EmbeddedServer server() {
    return TestNats.embedded();
  }

  @Override
  protected MessagePublisher createPublisher() {
    return TestNats.publisher()
        .timeout(timeout())
        .destination(Destination.by(this::subject))
        .build();
  }

  private String subject(StoredMessage message) {
    return destination(message, stream) + "." + Subjects.token(message.message().recordKey());
  }

  @Override
  protected Duration timeout() {
    return Duration.ofSeconds(8);
  }

  @Override
  protected void reset() {
    end();
    stream = TestNats.stream(settings -> settings);
    small = TestNats.stream(settings -> settings.maximumMessageSize(2_000));
    full = TestNats.stream(settings -> settings.maxBytes(10).discardPolicy(DiscardPolicy.New));
  }

  @Override
  protected List<Received> received() {
    return Stream.of(stream, small, full)
        .flatMap(name -> TestNats.read(name).stream())
        .map(NatsTckTest::received)
        .toList();
  }

  private static Received received(Message message) {
    String json = message.getHeaders().getLast(Mapping.HEADERS);
    Received received =
        Received.of(
            TestNats.header(message, Mapping.KEY),
            message.getData(),
            json == null ? List.of() : Header.fromJson(json));
    return withAttributes(received, name -> TestNats.header(message, name));
  }

  /** Larger than its stream allows: the server lets it pass, the stream refuses it. */
  @Override
  public OutboxMessage.Builder rejected(OutboxMessage.Builder message) {
    return to(small, message).payload(new byte[5_000]);
  }

  @Override
  public OutboxMessage.Builder toMissing(OutboxMessage.Builder message) {
    return to(TestNats.name(), message);
  }

  @Override
  public OutboxMessage.Builder toNotDurable(OutboxMessage.Builder message) {
    return to(full, message);
  }

  /** Somebody listens there, so that the server has an addressee, and never answers. */
  @Override
  public OutboxMessage.Builder toHanging(OutboxMessage.Builder message) {
    try {
      if (listener == null) {
        listener = TestNats.connect(TestNats.url());
        Subscription unused = listener.subscribe(SILENT + ".>");
        listener.flush(patience());
      }
    } catch (IOException | InterruptedException | TimeoutException e) {
      throw new AssertionError(e);
    }
    return to(SILENT, message);
  }

  @AfterEach
  void end() {
    if (listener != null) {
      try {
        listener.close();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
      listener = null;
    }
  }
}
