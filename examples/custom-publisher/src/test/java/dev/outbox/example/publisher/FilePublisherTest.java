package dev.outbox.example.publisher;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import dev.outbox.publisher.core.Destination;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.publisher.PublisherTck;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URLDecoder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;

class FilePublisherTest extends PublisherTck
    implements PublisherTck.BrokerStops,
        PublisherTck.BrokerRejects,
        PublisherTck.DestinationMissing {
  private static final String TO = "to";

  @TempDir Path temp;
  private Path folder = Path.of("none");

  @Override
  protected void reset() {
    folder = make(temp.resolve("folder" + System.nanoTime()));
  }

  @Override
  protected MessagePublisher createPublisher() {
    return new FilePublisher(folder, Destination.by(FilePublisherTest::destination), timeout());
  }

  @Override
  protected List<Received> received() {
    try (Stream<Path> files = Files.walk(folder)) {
      return files.filter(Files::isRegularFile).flatMap(FilePublisherTest::read).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Without its folder the publisher is like one without its broker. */
  @Override
  public void stopBroker() {
    move(folder, temp.resolve("away"));
  }

  @Override
  public void startBroker() {
    move(temp.resolve("away"), folder);
  }

  @Override
  public OutboxMessage.Builder rejected(OutboxMessage.Builder message) {
    return message.header(TO, "../outside");
  }

  @Override
  public OutboxMessage.Builder toMissing(OutboxMessage.Builder message) {
    return message.header(TO, "missing/file");
  }

  private static String destination(StoredMessage message) {
    return message.message().headers().stream()
        .filter(header -> header.name().equals(TO))
        .map(Header::value)
        .findFirst()
        .orElse(message.message().aggregateType());
  }

  private static Stream<Received> read(Path file) {
    try {
      return Files.readString(file, UTF_8)
          .lines()
          .filter(line -> line.endsWith("\t."))
          .map(line -> Arrays.stream(line.split("\t", -1)).map(f -> URLDecoder.decode(f, UTF_8)))
          .map(Stream::toList)
          .map(FilePublisherTest::received);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Received received(List<String> fields) {
    return Received.of(
            fields.get(1),
            Base64.getDecoder().decode(fields.get(11)),
            Header.fromJson(fields.get(10)))
        .with(Attribute.ID, fields.get(0))
        .with(Attribute.AGGREGATE_TYPE, fields.get(2))
        .with(Attribute.AGGREGATE_ID, fields.get(3))
        .with(Attribute.EVENT_TYPE, fields.get(4))
        .with(Attribute.CONTENT_TYPE, fields.get(5))
        .with(Attribute.CREATED_AT, fields.get(6))
        .with(Attribute.SEQUENCE, fields.get(7))
        .with(Attribute.DEDUP_KEY, fields.get(8).isEmpty() ? null : fields.get(8))
        .with(Attribute.CORRELATION_ID, fields.get(9).isEmpty() ? null : fields.get(9));
  }

  private static Path make(Path folder) {
    try {
      return Files.createDirectories(folder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void move(Path from, Path to) {
    try {
      Path ignored = Files.move(from, to);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
