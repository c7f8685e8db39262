package dev.outbox.dev.torture;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * What a process did, a line each, in a file of its own: "nanoseconds what details…". A line that
 * was written is there whatever happens to the process then. The time is of {@link
 * System#nanoTime}, which is one clock for all processes of a machine and is not shifted with the
 * wall clock.
 *
 * @param file no channel: that would be closed by the interrupt of a thread that writes
 */
record Journal(FileOutputStream file) implements AutoCloseable {
  private static final String SUFFIX = ".journal";

  /** Of each line. */
  private static final String END = " .";

  /**
   * @param process names the file
   */
  static Journal open(Path directory, String process) throws IOException {
    return new Journal(new FileOutputStream(directory.resolve(process + SUFFIX).toFile(), true));
  }

  /**
   * One write, so that lines of several threads do not mix. A process that is killed may leave a
   * part of a line, which lacks the end; the next one of its name begins a line of its own.
   */
  void write(String what, Object... details) {
    StringBuilder line = new StringBuilder("\n").append(System.nanoTime()).append(' ').append(what);
    for (Object detail : details) {
      line.append(' ').append(String.valueOf(detail).replaceAll("\\R", " "));
    }
    try {
      file.write(line.append(END).append('\n').toString().getBytes(UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() throws IOException {
    file.close();
  }

  /**
   * A line.
   *
   * @param process which wrote it
   * @param at of {@link System#nanoTime}
   */
  record Line(String process, long at, String what, List<String> details) {
    String detail(int index) {
      return details.get(index);
    }

    /** A detail that is a list; without elements it is "-". */
    List<String> list(int index) {
      String text = detail(index);
      return text.equals("-") ? List.of() : Arrays.asList(text.split(","));
    }

    long number(int index) {
      return Long.parseLong(detail(index));
    }

    /** What has a number of its process's, which is the first detail: a claim, a call, a lock. */
    String numbered() {
      return process + "#" + detail(0);
    }
  }

  /** As a detail. */
  static String list(Stream<?> elements) {
    String text = String.join(",", elements.map(Object::toString).toList());
    return text.isEmpty() ? "-" : text;
  }

  /** Those that tell something of this. */
  static List<Line> of(List<Line> lines, String... what) {
    return lines.stream().filter(line -> List.of(what).contains(line.what())).toList();
  }

  /** The lines of all processes, each process's in their order. */
  static List<Line> readAll(Path directory) throws IOException {
    List<Path> files;
    try (Stream<Path> all = Files.list(directory)) {
      files = all.filter(file -> file.toString().endsWith(SUFFIX)).sorted().toList();
    }
    List<Line> lines = new ArrayList<>();
    for (Path file : files) {
      String name = file.getFileName().toString();
      String process = name.substring(0, name.length() - SUFFIX.length());
      try (Stream<String> all = Files.lines(file, UTF_8)) {
        all.filter(line -> line.endsWith(END))
            .map(line -> line.substring(0, line.length() - END.length()).split(" "))
            .forEach(
                part ->
                    lines.add(
                        new Line(
                            process,
                            Long.parseLong(part[0]),
                            part[1],
                            List.of(part).subList(2, part.length))));
      }
    }
    return lines;
  }
}
