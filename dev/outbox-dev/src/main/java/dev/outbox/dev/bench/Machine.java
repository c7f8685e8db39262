package dev.outbox.dev.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/** What it ran on. */
public final class Machine {
  private static final Path CPU_INFO = Path.of("/proc/cpuinfo");
  private static final Path MEMORY_INFO = Path.of("/proc/meminfo");

  private Machine() {}

  public static Map<String, String> describe() {
    Map<String, String> all = new LinkedHashMap<>();
    all.put(
        "CPU",
        "%s, %s available"
            .formatted(
                value(CPU_INFO, "model name", System.getProperty("os.arch")),
                Runtime.getRuntime().availableProcessors()));
    all.put("memory", value(MEMORY_INFO, "MemTotal", "not known"));
    all.put("system", System.getProperty("os.name") + " " + System.getProperty("os.version"));
    all.put(
        "JVM",
        "%s %s, at most %s MB of heap"
            .formatted(
                System.getProperty("java.vm.name"),
                Runtime.version(),
                Runtime.getRuntime().maxMemory() >> 20));
    return all;
  }

  /** The first value of a name in one of Linux's files of names and values. */
  private static String value(Path file, String name, String otherwise) {
    try {
      return Files.readAllLines(file).stream()
          .filter(line -> line.startsWith(name) && line.contains(":"))
          .map(line -> line.substring(line.indexOf(':') + 1).strip())
          .findFirst()
          .orElse(otherwise);
    } catch (IOException e) {
      return otherwise;
    }
  }
}
