package dev.outbox.dev.demo;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.outbox.embedded.ChildJvm;
import dev.outbox.embedded.Ports;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** A {@link DemoReceiver} and its file. It is stopped as by a crash. */
final class DemoHttp implements DemoBroker {
  private final int port = Ports.free();
  private final Path directory;
  private final Path file;
  private final Path log;
  private @Nullable ChildJvm receiver;
  private boolean closed;

  DemoHttp() {
    try {
      directory = Files.createTempDirectory("outbox-demo-receiver-");
    } catch (IOException e) {
      throw new UncheckedIOException("no directory for the receiver", e);
    }
    file = directory.resolve("received.txt");
    log = directory.resolve("receiver.log");
  }

  @Override
  public String label() {
    return "the HTTP receiver";
  }

  @Override
  public synchronized void start() {
    if (closed) {
      return;
    }
    Map<String, String> settings =
        Map.of(DemoReceiver.PORT, "" + port, DemoReceiver.FILE, file.toString());
    ChildJvm started = ChildJvm.start(DemoReceiver.class, settings, Map.of(), log);
    receiver = started;
    started.await(DemoReceiver.STARTED);
  }

  @Override
  public String address() {
    return "http://127.0.0.1:" + port;
  }

  @Override
  public Map<String, String> relayProperties() {
    return Map.of(
        "publisher",
        "http",
        "destination",
        address() + "/{aggregateType}",
        "publisher.cloudEventsSource",
        "urn:outbox:demo");
  }

  @Override
  public List<String> waysToLook() {
    return List.of("tail " + file);
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
  public void restart() {
    start();
  }

  @Override
  public Optional<Path> log() {
    return Optional.of(log);
  }

  @Override
  public synchronized void close() {
    closed = true;
    stop();
    try {
      Files.deleteIfExists(file);
      Files.deleteIfExists(log);
      Files.deleteIfExists(directory);
    } catch (IOException e) {
      throw new UncheckedIOException(directory + " could not be deleted", e);
    }
  }

  @Override
  public Source source() {
    return source(place());
  }

  @Override
  public Place place() {
    return new Place(file.toString(), "");
  }

  static Source source(Place place) {
    return new Lines(Path.of(place.address()));
  }

  /** The file, as far as its lines are whole. */
  private static final class Lines implements Source {
    private static final int POLL_MILLIS = 2;

    private final RandomAccessFile file;
    private long read;

    Lines(Path file) {
      try {
        this.file = new RandomAccessFile(file.toFile(), "r");
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
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
        new String(more, 0, end, UTF_8).lines().forEach(line -> tell(line, sink));
        sink.complete();
        if (end == 0) {
          Thread.sleep(POLL_MILLIS);
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private static void tell(String line, Sink sink) {
      String[] part = line.split(DemoReceiver.BETWEEN, 3);
      sink.received(part[0], part[1]);
    }

    @Override
    public BooleanSupplier end() {
      try {
        long length = file.length();
        return () -> read >= length;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
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
