package dev.outbox.dev.broker;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.outbox.dev.broker.Broker.Started;
import dev.outbox.dev.broker.Source.Reading;
import dev.outbox.dev.broker.Source.Received;
import dev.outbox.dev.broker.Source.Sink;
import dev.outbox.embedded.ChildJvm;
import dev.outbox.embedded.Ports;
import dev.outbox.publisher.core.Attributes;
import dev.outbox.publisher.http.HttpPublisher;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.StoredMessage;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A {@link Receiver}, with a file where it is for messages of some types, else one that only
 * counts. Its address is the file. It is stopped as by a crash.
 */
final class HttpBroker extends Broker {
  private static final URI SOURCE = URI.create("urn:outbox:dev");

  private final int port = Ports.free();
  private @Nullable Path directory;
  private @Nullable ChildJvm receiver;
  private boolean closed;

  HttpBroker(@Nullable String address, List<String> types) {
    super("the HTTP receiver", address, "", types);
  }

  @Override
  public String toString() {
    return "HTTP";
  }

  @Override
  public String place() {
    return "http://127.0.0.1:" + port;
  }

  @Override
  public synchronized void start(int proxyPort) {
    directory =
        tried(
            "no directory for the receiver",
            () -> Files.createTempDirectory("outbox-demo-receiver-"));
    address(types().isEmpty() ? "" : directory.resolve("received.txt").toString());
    restart();
  }

  @Override
  Started launch(int proxyPort) {
    throw new UnsupportedOperationException();
  }

  @Override
  public synchronized void restart() {
    if (closed) {
      return;
    }
    Map<String, String> settings = Map.of(Receiver.PORT, "" + port, Receiver.FILE, address());
    ChildJvm started = ChildJvm.start(Receiver.class, settings, Map.of(), log().orElseThrow());
    receiver = started;
    started.await(Receiver.STARTED);
  }

  @Override
  public String needs() {
    return "a JDK";
  }

  @Override
  public void createTopics() {}

  @Override
  public Map<String, String> relayProperties() {
    return Map.of(
        "publisher",
        "http",
        "destination",
        place() + "/{aggregateType}",
        "publisher.cloudEventsSource",
        SOURCE.toString());
  }

  @Override
  public MessagePublisher measured() {
    return HttpPublisher.builder().url(place()).cloudEvents(SOURCE).build();
  }

  @Override
  public long arrived() {
    ChildJvm running = running();
    running.send("arrived");
    return Long.parseLong(running.line());
  }

  private ChildJvm running() {
    if (receiver == null) {
      throw new IllegalStateException("the receiver does not run");
    }
    return receiver;
  }

  @Override
  public Client client() {
    HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    return new Client() {
      @Override
      public int mostAtOnce() {
        return HttpPublisher.DEFAULT_MAX_IN_FLIGHT / 2; // there are two of these
      }

      @Override
      public void send(StoredMessage message, Consumer<Boolean> answered) {
        HttpRequest.Builder request =
            HttpRequest.newBuilder(URI.create(place()))
                .header("content-type", message.message().contentType())
                .POST(BodyPublishers.ofByteArray(message.message().payload()));
        Attributes.forEachOfCloudEvent(
            message, SOURCE, (name, value) -> request.header("ce-" + name, value));
        Attributes.forEach(
            message,
            (name, value) ->
                request.header(name.equals("content-type") ? "outbox-content-type" : name, value));
        var unused =
            http.sendAsync(request.build(), BodyHandlers.discarding())
                .whenComplete(
                    (answer, error) ->
                        answered.accept(
                            error == null && answer.statusCode() == Receiver.NO_CONTENT));
      }
    };
  }

  @Override
  public OptionalLong pid() {
    return OptionalLong.of(running().pid());
  }

  @Override
  public boolean canStop() {
    return true;
  }

  @Override
  public synchronized void stop() {
    if (receiver != null) {
      receiver.close();
      receiver = null;
    }
  }

  @Override
  public Optional<Path> log() {
    return Optional.ofNullable(directory).map(d -> d.resolve("receiver.log"));
  }

  @Override
  public synchronized void close() {
    closed = true;
    stop();
    Path made = directory;
    if (made != null) {
      boolean unused =
          tried(
              made + " could not be deleted",
              () -> {
                Files.deleteIfExists(made.resolve("received.txt"));
                Files.deleteIfExists(made.resolve("receiver.log"));
                return Files.deleteIfExists(made);
              });
    }
  }

  @Override
  public Source source(Reading reading) {
    return tried(
        "the receiver's file cannot be read",
        () -> new Lines(new RandomAccessFile(address(), "r")));
  }

  /** The file, as far as its lines are whole. */
  private static final class Lines implements Source {
    private static final int POLL_MILLIS = 2;

    private final RandomAccessFile file;
    private long read;
    private long lines;

    Lines(RandomAccessFile file) {
      this.file = file;
    }

    @Override
    public void poll(Sink sink) throws InterruptedException {
      try {
        byte[] more = new byte[Math.toIntExact(file.length() - read)];
        file.seek(read);
        file.readFully(more);
        int end = more.length;
        while (end > 0 && more[end - 1] != '\n') {
          end--;
        }
        read += end;
        new String(more, 0, end, UTF_8).lines().forEach(line -> sink.received(received(line)));
        sink.complete();
        if (end == 0) {
          Thread.sleep(POLL_MILLIS);
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private Received received(String line) {
      String[] part = line.split(Receiver.BETWEEN, 3);
      return new Received(
          "received",
          lines++,
          Received.id(part[0]),
          Received.key(part[1]),
          part[2].getBytes(UTF_8));
    }

    @Override
    public BooleanSupplier end() {
      long length = tried("the receiver's file cannot be read", file::length);
      return () -> read >= length;
    }

    @Override
    public void close() {
      try {
        file.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
