package dev.outbox.dev.torture;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * Shifts the wall clocks of single processes, by a small library in C that is preloaded into them.
 * Where there is no C compiler to build it with, or no such preloading, no clock is shifted.
 */
final class Clocks {
  private final Path directory;
  private final Path library;
  final boolean canShift;

  Clocks(Path directory) throws InterruptedException {
    this.directory = directory;
    library = directory.resolve("clock.so");
    canShift = System.getProperty("os.name").equals("Linux") && compile();
  }

  /** What is missing is not worth an error: the other faults do without. */
  private boolean compile() throws InterruptedException {
    Path source = directory.resolve("clock.c");
    try (InputStream in = requireNonNull(Clocks.class.getResourceAsStream("clock.c"))) {
      Files.write(source, in.readAllBytes());
      List<String> command =
          List.of("cc", "-O1", "-shared", "-fPIC", "-o", library.toString(), source.toString());
      return new ProcessBuilder(command).inheritIO().start().waitFor() == 0;
    } catch (IOException e) {
      return false;
    }
  }

  /** Lets a process's clock be shifted; it is not yet. */
  Map<String, String> environment(String process) {
    if (!canShift) {
      return Map.of();
    }
    shift(process, Duration.ZERO);
    return Map.of("LD_PRELOAD", library.toString(), "OUTBOX_CLOCK", file(process).toString());
  }

  /** At once. The file is mapped by the process, so it is overwritten and never cut. */
  void shift(String process, Duration by) {
    ByteBuffer seconds =
        ByteBuffer.allocate(Long.BYTES).order(ByteOrder.nativeOrder()).putLong(0, by.toSeconds());
    try (FileChannel file =
        FileChannel.open(file(process), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      file.write(seconds, 0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Path file(String process) {
    return directory.resolve(process + ".clock");
  }
}
