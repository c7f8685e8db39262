package dev.outbox.dev.bench;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The CPU time of this JVM, and of servers that run on this machine: a process, its descendants,
 * and those of them that have ended. Linux counts it in hundredths of a second for each process.
 */
public final class CpuClock {
  private static final double NANOS_A_TICK = 1e7; // USER_HZ is 100
  private static final int TRIES = 10;

  private final List<Long> servers = new CopyOnWriteArrayList<>();
  private volatile boolean foreign;

  /**
   * Adds a server.
   *
   * @param pid its first process; empty when it is not one of this machine that we know of
   */
  public void add(OptionalLong pid) {
    if (pid.isPresent() && read(pid.getAsLong()) != null) {
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
  private static double ticks(long pid) {
    for (int i = 0; i < TRIES; i++) {
      Stat before = read(pid);
      double ticks = tree(pid).mapToDouble(stat -> (double) stat.own + stat.reaped).sum();
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

  private static Stream<Stat> tree(long root) {
    return ProcessHandle.of(root).stream()
        .flatMap(process -> Stream.concat(Stream.of(process), process.descendants()))
        .map(process -> read(process.pid()))
        .flatMap(Stream::ofNullable);
  }

  private static @Nullable Stat read(long pid) {
    try {
      return Stat.parse(Files.readString(Path.of("/proc/%s/stat".formatted(pid))));
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
  record Stat(long own, long reaped) {
    /** See proc(5). The second field, a name in parentheses, may hold blanks and parentheses. */
    static Stat parse(String text) {
      String[] fields = text.substring(text.lastIndexOf(')') + 1).strip().split(" ");
      return new Stat(
          Long.parseLong(fields[11]) + Long.parseLong(fields[12]),
          Long.parseLong(fields[13]) + Long.parseLong(fields[14]));
    }
  }
}
