package dev.outbox.dev.torture;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;

/** Which messages the broker takes now that somebody repaired them: a file each. */
record Repairs(Path directory) {

  void add(UUID id) {
    try {
      Files.write(file(id), new byte[0]);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  boolean has(UUID id) {
    return Files.exists(file(id));
  }

  private Path file(UUID id) {
    return directory.resolve("repaired-" + id);
  }
}
