package dev.outbox.dev.torture;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/** Which messages the broker takes now that somebody repaired them: a file, a line each. */
final class Repairs {
  private final Path file;
  private Set<String> known = Set.of();
  private long size;

  Repairs(Path directory) {
    file = directory.resolve("repaired");
  }

  void add(UUID id) {
    try {
      Files.write(
          file,
          List.of(id.toString()),
          UTF_8,
          StandardOpenOption.CREATE,
          StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  synchronized boolean has(UUID id) {
    try {
      long now = Files.exists(file) ? Files.size(file) : 0;
      if (now != size) {
        known = new HashSet<>(Files.readAllLines(file, UTF_8));
        size = now;
      }
      return known.contains(id.toString());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
