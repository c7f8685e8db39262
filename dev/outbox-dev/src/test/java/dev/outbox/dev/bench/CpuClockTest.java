package dev.outbox.dev.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CpuClockTest {
  private static final double TICK = 1e7;

  @TempDir private Path proc;

  /** As the kernel writes it, with some of the fields after those that we read. */
  private void process(long pid, String name, long parent, int user, int system, int ended)
      throws IOException {
    Files.createDirectories(proc.resolve("" + pid));
    Files.writeString(
        proc.resolve(pid + "/stat"),
        "%d (%s) S %d %d %d 0 -1 4194560 9 9 9 9 %d %d %d 0 20 0 1 0 77\n"
            .formatted(pid, name, parent, pid, pid, user, system, ended));
  }

  private CpuClock clock(long pid) {
    CpuClock clock = new CpuClock(proc);
    clock.add(OptionalLong.of(pid));
    return clock;
  }

  @Test
  @DisplayName("a server is its first process, all below it, and those of them that have ended")
  void descendants() throws IOException {
    process(10, "postgres", 1, 3, 4, 100);
    process(11, "postgres: me db 127.0.0.1(5432) idle", 10, 20, 0, 0);
    process(12, "io (worker) 1", 11, 0, 5, 0);
    process(13, "somebody else", 1, 9_000, 0, 0);
    assertThat(clock(10).now().server()).isEqualTo((3 + 4 + 100 + 20 + 5) * TICK);
  }

  @Test
  @DisplayName("what a process took is counted on when it ends")
  void ended() throws IOException {
    process(10, "postgres", 1, 1, 0, 0);
    process(11, "backend", 10, 20, 2, 0);
    CpuClock clock = clock(10);
    CpuClock.Time before = clock.now();
    Files.delete(proc.resolve("11/stat"));
    process(10, "postgres", 1, 1, 0, 25);
    assertThat(clock.now().since(before).server()).isEqualTo(3 * TICK);
  }

  @Test
  @DisplayName("several servers are one sum, and a message has its part of it")
  void several() throws IOException {
    process(10, "postgres", 1, 5, 0, 0);
    process(20, "java", 1, 7, 0, 0);
    CpuClock clock = clock(10);
    clock.add(OptionalLong.of(20));
    assertThat(clock.now().server()).isEqualTo(12 * TICK);
    CpuClock.Time each = new CpuClock.Time(3e6, 1e6).perMessage(1_000);
    assertThat(each).isEqualTo(new CpuClock.Time(3, 1));
    assertThat(each.sum()).isEqualTo(4);
  }

  @Test
  @DisplayName(
      "one server that is not of this machine makes it unknown, not less; ours stays known")
  void foreign() throws IOException {
    process(10, "postgres", 1, 5, 0, 0);
    CpuClock clock = clock(10);
    assertThat(clock.describe()).doesNotContain("dash");
    clock.add(OptionalLong.empty());
    assertThat(clock.now().server()).isNaN();
    assertThat(clock.now().client()).isPositive();
    assertThat(clock.describe()).startsWith("a dash");
    assertThat(clock(99).now().server()).isNaN();
    assertThat(new CpuClock(proc).now().server()).isNaN();
  }

  @Test
  @DisplayName("a server that has ended is unknown, not nothing")
  void gone() throws IOException {
    process(10, "postgres", 1, 5, 0, 0);
    CpuClock clock = clock(10);
    Files.delete(proc.resolve("10/stat"));
    assertThat(clock.now().server()).isNaN();
  }

  @Test
  @DisplayName("this machine's own processes are read: this JVM as a server too")
  void real() {
    assumeTrue(Files.isReadable(Path.of("/proc/self/stat")), "there is no /proc here");
    CpuClock clock = new CpuClock();
    clock.add(OptionalLong.of(ProcessHandle.current().pid()));
    CpuClock.Time before = clock.now();
    CpuClock.Time spent = clock.now().since(before);
    while (spent.server() < 5 * TICK || spent.client() < 5 * TICK) {
      spent = clock.now().since(before); // which takes CPU time itself
    }
    assertThat(spent.sum()).isEqualTo(spent.server() + spent.client());
  }
}
