package dev.outbox.embedded;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A program that ends by itself, within two minutes. */
final class Program {
  private Program() {}

  /**
   * Runs it.
   *
   * @return what it said, on standard output and error
   * @throws IOException when it cannot be run, fails or does not end, with what it said
   */
  static String run(List<String> command) throws IOException {
    return run(command, Optional.empty());
  }

  /**
   * {@link #run(List)}.
   *
   * @param input what the program reads from standard input
   */
  static String run(List<String> command, Optional<Path> input) throws IOException {
    String name = command.get(0);
    Path output = Files.createTempFile("outbox-", ".out");
    try {
      ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
      builder.redirectOutput(output.toFile());
      input.ifPresent(file -> builder.redirectInput(file.toFile()));
      Process process = builder.start();
      try {
        process.getOutputStream().close();
        boolean ended = process.waitFor(2, TimeUnit.MINUTES);
        String said = Files.readString(output, UTF_8).strip();
        if (!ended) {
          throw new IOException(name + " did not end within two minutes; it said:\n" + said);
        }
        if (process.exitValue() != 0) {
          throw new IOException(
              "%s failed with code %s; it said:%n%s".formatted(name, process.exitValue(), said));
        }
        return said;
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IOException("interrupted while running " + name, e);
      } finally {
        process.destroyForcibly();
      }
    } finally {
      Files.delete(output);
    }
  }

  /** {@link #version(List, Pattern)} of a program that {@code --version} asks. */
  static String version(Path program, Pattern version) {
    try {
      return version(List.of(program.toString(), "--version"), version);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Asks a program for its version.
   *
   * @param version of what the program says; its first group is the version
   */
  static String version(List<String> command, Pattern version) throws IOException {
    String said = run(command);
    Matcher found = version.matcher(said);
    if (!found.find()) {
      throw new IOException(
          "%s does not say its version but: %s".formatted(String.join(" ", command), said));
    }
    return found.group(1);
  }
}
