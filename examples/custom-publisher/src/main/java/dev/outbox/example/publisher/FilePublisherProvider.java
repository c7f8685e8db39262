package dev.outbox.example.publisher;

import dev.outbox.publisher.core.Destination;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.PublisherProvider;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;

/** Opens the publisher for {@code outbox relay}, which finds it by its jar. */
public final class FilePublisherProvider implements PublisherProvider {
  private static final String FOLDER = "file.folder";

  @Override
  public String name() {
    return "file";
  }

  @Override
  public Set<String> properties() {
    return Set.of(FOLDER, Destination.PROPERTY, Destination.PROPERTY + ".");
  }

  @Override
  public MessagePublisher open(Map<String, String> properties, Duration timeout) {
    String folder = properties.getOrDefault(FOLDER, "");
    if (folder.isEmpty()) {
      throw new IllegalArgumentException(FOLDER + " is missing: name a folder that is there");
    }
    return new FilePublisher(Path.of(folder), Destination.fromProperties(properties), timeout);
  }
}
