package dev.outbox.dev.bench;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * The CPU time of this JVM, and of servers that run on this machine: a process, its descendants,
 * and those of them that have ended. Linux counts it in hundredths of a second for each process.
 */
public final class CpuClock {
  private static final double NANOS_A_TICK = 1e7; // USER_HZ is 100
  private static final int TRIES = 10;

  private final Path proc;
  private final List<Long> servers = new CopyOnWriteArrayList<>();
  private volatile boolean foreign;

  public CpuClock() {
    this(Path.of("/proc"));
  }

  /**
   * @param proc where the kernel tells of processes
   */
  CpuClock(Path proc) {
    this.proc = proc;
  }

  /**
   * Adds a server.
   *
   * @param pid its first process; empty when it is not one of this machine that we know of
   */
  public void add(OptionalLong pid) {
    if (pid.isPresent() && Files.isReadable(stat(pid.getAsLong()))) {
      servers.add(pid.getAsLong());
    } else {
      foreign = true;
    }
  }

  /** For the report: what is counted as the server's. */
  public String describe() {
    return isKnown()
        ? "all processes of the servers that were started for this"
        : "a dash: not all of the servers were started for this, on Linux";
  }

  private boolean isKnown() {
    return !foreign && !servers.isEmpty();
  }

  /**
   * Since the processes began, in nanoseconds.
   *
   * @param server not a number where it cannot be known
   * @param client this JVM's, its compilers and garbage collectors among it
   */
  public record Time(double server, double client) {
    public Time since(Time before) {
      return new Time(server - before.server, client - before.client);
    }

    public Time plus(Time other) {
      return new Time(server + other.server, client + other.client);
    }

    /** Microseconds of each of so many messages. */
    public Time perMessage(long messages) {
      return new Time(server / 1e3 / messages, client / 1e3 / messages);
    }

    public double sum() {
      return server + client;
    }
  }

  public Time now() {
    long client =
        ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime();
    if (!isKnown()) {
      return new Time(Double.NaN, client);
    }
    double ticks = 0;
    for (long server : servers) {
      ticks += ticks(server);
    }
    return new Time(ticks * NANOS_A_TICK, client);
  }

  /**
   * Of a process and all its descendants. One that ends between two looks would be counted twice or
   * not at all: then its parent has a new sum of those that have ended, and we look again.
   */
  private double ticks(long pid) {
    for (int i = 0; i < TRIES; i++) {
      Stat before = read(pid);
      double ticks = tree(pid, all());
      Stat after = read(pid);
      if (before == null || after == null) {
        return Double.NaN; // the server has ended
      }
      if (before.reaped == after.reaped) {
        return ticks;
      }
    }
    return Double.NaN;
  }

  private static double tree(long root, Map<Long, Stat> all) {
    Map<Long, List<Long>> children = new HashMap<>();
    all.forEach(
        (pid, stat) -> children.computeIfAbsent(stat.parent, p -> new ArrayList<>()).add(pid));
    double ticks = 0;
    List<Long> open = new ArrayList<>(List.of(root));
    while (!open.isEmpty()) {
      long pid = open.remove(open.size() - 1);
      Stat stat = all.get(pid);
      ticks += stat == null ? 0 : stat.own + stat.reaped;
      open.addAll(children.getOrDefault(pid, List.of()));
    }
    return ticks;
  }

  private Map<Long, Stat> all() {
    Map<Long, Stat> all = new HashMap<>();
    try (DirectoryStream<Path> processes = Files.newDirectoryStream(proc, "[0-9]*")) {
      for (Path process : processes) {
        long pid = Long.parseLong(String.valueOf(process.getFileName()));
        Stat stat = read(pid);
        if (stat != null) {
          all.put(pid, stat);
        }
      }
    } catch (IOException e) {
      return Map.of();
    }
    return all;
  }

  private Path stat(long pid) {
    return proc.resolve(pid + "/stat");
  }

  private @Nullable Stat read(long pid) {
    try {
      return Stat.parse(Files.readString(stat(pid)));
    } catch (IOException e) {
      return null; // it has ended
    }
  }

  /**
   * A process, in ticks.
   *
   * @param own of itself, all its threads
   * @param reaped of its children that have ended and been waited for
   */
  record Stat(long parent, long own, long reaped) {
    /** See proc(5). The second field, a name in parentheses, may hold blanks and parentheses. */
    static Stat parse(String text) {
      String[] fields = text.substring(text.lastIndexOf(')') + 1).strip().split(" ");
      return new Stat(
          Long.parseLong(fields[1]),
          Long.parseLong(fields[11]) + Long.parseLong(fields[12]),
          Long.parseLong(fields[13]) + Long.parseLong(fields[14]));
    }
  }
}
