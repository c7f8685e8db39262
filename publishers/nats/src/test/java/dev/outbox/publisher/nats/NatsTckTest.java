package dev.outbox.publisher.nats;

import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import dev.outbox.publisher.core.Destination;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.PublisherTck;
import io.nats.client.Connection;
import io.nats.client.Message;
import io.nats.client.Subscription;
import io.nats.client.api.DiscardPolicy;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;

/** The TCK on a real server. */
class NatsTckTest extends PublisherTck
    implements PublisherTck.BrokerCrashes,
        PublisherTck.BrokerHangs,
        PublisherTck.BrokerRejects,
        PublisherTck.DestinationMissing,
        PublisherTck.DestinationNotDurable,
        PublisherTck.DestinationHangs {
  private static final String GOES_TO = "test-goes-to";
  private static final String SILENT = TestNats.name();

  private String stream;
  private String small;
  private String full;
  private Connection listener;

  @Override
  protected MessagePublisher createPublisher() {
    return TestNats.publisher()
        .timeout(timeout())
        .destination(Destination.by(this::subject))
        .build();
  }

  private String subject(StoredMessage message) {
    String to =
        message.message().headers().stream()
            .filter(header -> header.name().equals(GOES_TO))
            .map(Header::value)
            .findFirst()
            .orElse(stream);
    return to + "." + Subjects.token(message.message().recordKey());
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
    for (Attribute attribute : Attribute.values()) {
      String name = "outbox-" + attribute.name().toLowerCase(Locale.ROOT).replace('_', '-');
      received = received.with(attribute, TestNats.header(message, name));
    }
    return received;
  }

  @Override
  public void stopBroker() {
    TestNats.embedded().stop();
  }

  @Override
  public void killBroker() {
    TestNats.embedded().kill();
  }

  @Override
  public void startBroker() {
    TestNats.embedded().restart();
  }

  @Override
  public void pauseBroker() {
    TestNats.embedded().pause();
  }

  @Override
  public void resumeBroker() {
    TestNats.embedded().resume();
  }

  /** Larger than its stream allows: the server lets it pass, the stream refuses it. */
  @Override
  public OutboxMessage.Builder rejected(OutboxMessage.Builder message) {
    return message.header(GOES_TO, small).payload(new byte[5_000]);
  }

  @Override
  public OutboxMessage.Builder toMissing(OutboxMessage.Builder message) {
    return message.header(GOES_TO, TestNats.name());
  }

  @Override
  public OutboxMessage.Builder toNotDurable(OutboxMessage.Builder message) {
    return message.header(GOES_TO, full);
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
    return message.header(GOES_TO, SILENT);
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
