package dev.outbox.publisher.http;

import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import dev.outbox.embedded.ChildJvm;
import dev.outbox.embedded.EmbeddedTck;
import dev.outbox.publisher.core.Destination;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.publisher.PublisherTck;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.TestInstance;

/** The TCK against an endpoint in a process of its own, once for each mode. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class HttpPublisherTck extends PublisherTck
    implements PublisherTck.BrokerCrashes,
        PublisherTck.BrokerHangs,
        PublisherTck.BrokerRejects,
        PublisherTck.DestinationMissing,
        PublisherTck.DestinationNotDurable,
        PublisherTck.DestinationHangs {
  private static final String GOES_TO = "test-goes-to";

  private final Path file = file();
  private final RawServer silent = silent();
  private ChildJvm receiver;
  private String port = "0";
  private int resets;

  HttpPublisherTck() {
    startBroker();
  }

  abstract void mode(HttpPublisher.Builder builder);

  abstract byte[] payload(Receiver.Request request);

  private static Path file() {
    try {
      Path file = Files.createTempFile("outbox-receiver-", ".txt");
      file.toFile().deleteOnExit();
      return file;
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static RawServer silent() {
    try {
      return RawServer.silent();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @AfterAll
  void end() throws IOException {
    silent.close();
    receiver.close();
  }

  @Override
  protected MessagePublisher createPublisher() {
    HttpPublisher.Builder publisher =
        HttpPublisher.builder()
            .url("http://localhost:%s/".formatted(port))
            .destination(Destination.by(this::url))
            .cloudEvents(TestMessages.SOURCE)
            .copiedHeaders(ReceiverMain.ANSWER)
            .timeout(timeout());
    mode(publisher);
    return publisher.build();
  }

  private String url(StoredMessage message) {
    String to =
        message.message().headers().stream()
            .filter(header -> header.name().equals(GOES_TO))
            .map(Header::value)
            .findFirst()
            .orElse("events");
    return to.startsWith("http") ? to : "http://localhost:%s/%d/%s".formatted(port, resets, to);
  }

  @Override
  protected Duration timeout() {
    return Duration.ofSeconds(8);
  }

  @Override
  protected void reset() {
    resets++;
  }

  @Override
  protected List<Received> received() {
    return ReceiverMain.read(file, "/%d/".formatted(resets)).stream().map(this::received).toList();
  }

  private Received received(Receiver.Request request) {
    return EmbeddedTck.withAttributes(
        Received.of(key(request), payload(request), request.headers()), request::decoded);
  }

  abstract String key(Receiver.Request request);

  @Override
  public void stopBroker() {
    receiver.send("stop");
    int unused = receiver.exitCode();
    receiver.close();
  }

  @Override
  public void killBroker() {
    receiver.close();
  }

  @Override
  public final void startBroker() {
    receiver = ChildJvm.start(ReceiverMain.class, Map.of("port", port, "file", file.toString()));
    port = receiver.line();
  }

  @Override
  public void pauseBroker() {
    receiver.stop();
  }

  @Override
  public void resumeBroker() {
    receiver.go();
  }

  @Override
  public OutboxMessage.Builder rejected(OutboxMessage.Builder message) {
    return message.header(ReceiverMain.ANSWER, "422");
  }

  @Override
  public OutboxMessage.Builder toMissing(OutboxMessage.Builder message) {
    return message.header(GOES_TO, "missing");
  }

  @Override
  public OutboxMessage.Builder toHanging(OutboxMessage.Builder message) {
    return message.header(GOES_TO, silent.url());
  }

  /** As an endpoint answers whose database is away. */
  @Override
  public OutboxMessage.Builder toNotDurable(OutboxMessage.Builder message) {
    return message.header(ReceiverMain.ANSWER, "503");
  }
}
