package dev.outbox.example.publisher;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.DSYNC;
import static java.nio.file.StandardOpenOption.READ;
import static java.util.Objects.requireNonNullElse;

import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import dev.outbox.publisher.core.Destination;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Appends messages to files of a folder, one for each destination, and waits for the disk each
 * time. A message is a line break and a line of thirteen fields between tabs, as in a URL's query;
 * the last one is a dot, without which the line was torn by a crash and does not count.
 */
public final class FilePublisher implements MessagePublisher {
  private static final int LONGEST_NAME = 250;

  private final Path folder;
  private final Destination destination;
  private final Duration timeout;

  /**
   * @param folder must be there, or nothing can be published
   * @param destination the file's name; may lead into a folder below
   * @param timeout how long one call may take
   */
  public FilePublisher(Path folder, Destination destination, Duration timeout) {
    this.folder = folder.toAbsolutePath().normalize();
    this.destination = destination.escaping(value -> URLEncoder.encode(value, UTF_8));
    this.timeout = timeout;
  }

  // tag::publish
  @Override
  public List<Result> publish(List<StoredMessage> messages) {
    long end = System.nanoTime() + timeout.toNanos();
    List<Result> results = new ArrayList<>();
    Map<String, Result> behind = new HashMap<>(); // of keys of which a message was not delivered
    for (StoredMessage message : messages) {
      Result result = behind.get(message.key());
      if (result == null) {
        result =
            System.nanoTime() - end > 0
                ? Result.unavailable("the others took all of " + timeout)
                : append(message);
        if (!(result instanceof Result.Delivered)) {
          String name = message.message().aggregateType();
          behind.put(message.key(), Result.notSent(message, result, name));
        }
      }
      results.add(result);
    }
    return results;
  }

  // end::publish

  private Result append(StoredMessage message) {
    String name = "";
    try {
      name = destination.of(message);
      Path file = folder.resolve(name).normalize();
      if (!file.startsWith(folder) || name.getBytes(UTF_8).length > LONGEST_NAME) {
        return Result.rejected(name + " is too long, or leads out of " + folder);
      }
      Files.write(file, record(message), CREATE, APPEND, DSYNC);
      sync(file.getParent()); // which knows the file's name
      return Result.delivered();
    } catch (Destination.MissingException e) {
      return e.result();
    } catch (InvalidPathException e) {
      return Result.rejected(String.valueOf(e.getMessage()));
    } catch (IOException e) {
      return Files.isDirectory(folder)
          ? Result.unavailable(e.toString(), name)
          : Result.unavailable("there is no folder " + folder);
    }
  }

  private static void sync(Path directory) throws IOException {
    try (FileChannel channel = FileChannel.open(directory, READ)) {
      channel.force(true);
    }
  }

  private static byte[] record(StoredMessage stored) {
    OutboxMessage message = stored.message();
    return Stream.of(
            message.id().toString(),
            message.recordKey(),
            message.aggregateType(),
            message.aggregateId(),
            message.eventType(),
            message.contentType(),
            stored.createdAt().toString(),
            Long.toString(stored.sequence()),
            requireNonNullElse(message.dedupKey(), ""),
            requireNonNullElse(message.correlationId(), ""),
            Header.toJson(message.headers()),
            Base64.getEncoder().encodeToString(message.payload()),
            ".")
        .map(field -> URLEncoder.encode(field, UTF_8))
        .collect(Collectors.joining("\t", "\n", ""))
        .getBytes(UTF_8);
  }
}
