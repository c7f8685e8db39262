package dev.outbox.dev.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.outbox.dev.bench.CpuClock.Stat;
import dev.outbox.dev.bench.CpuClock.Time;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class CpuClockTest {

  @Test
  @DisplayName("a process's name may hold blanks and parentheses")
  void stat() {
    String rest = " S 1 9 9 0 -1 4194560 9 9 9 9 %d %d %d %d 20 0 1 0 77\n".formatted(3, 4, 100, 5);
    for (String name : new String[] {"postgres", "io (worker) 1", "postgres: me 127.0.0.1(5)"}) {
      assertThat(Stat.parse("10 (" + name + ")" + rest)).isEqualTo(new Stat(7, 105));
    }
  }

  @Test
  @DisplayName("one server that is not of this machine makes it unknown; ours stays known")
  void foreign() {
    CpuClock clock = new CpuClock();
    assertThat(clock.now().server()).isNaN();
    clock.add(OptionalLong.empty());
    assertThat(clock.now().server()).isNaN();
    assertThat(clock.now().client()).isPositive();
    assertThat(clock.describe()).startsWith("a dash");
    assertThat(new Time(3e6, 1e6).perMessage(1_000)).isEqualTo(new Time(3, 1));
  }

  @Test
  @DisplayName("a server is its first process and all below it, also those that have ended")
  void tree() throws Exception {
    assumeTrue(Files.isReadable(Path.of("/proc/self/stat")), "there is no /proc here");
    String busy = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
    Process server =
        new ProcessBuilder("sh", "-c", "read go; (sh -c '" + busy + "'); echo done; read end")
            .start();
    try {
      CpuClock clock = new CpuClock();
      clock.add(OptionalLong.of(server.pid()));
      Time before = clock.now();
      server.getOutputStream().write('\n');
      server.getOutputStream().flush();
      assertThat(server.inputReader().readLine()).isEqualTo("done");
      assertThat(clock.now().since(before).server()).isPositive();
      assertThat(clock.describe()).doesNotContain("dash");
      server.destroyForcibly().waitFor();
      assertThat(clock.now().server()).as("it has ended").isNaN();
    } finally {
      server.destroyForcibly();
    }
  }
}
