package dev.outbox.dev.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.management.OperatingSystemMXBean;
import dev.outbox.dev.bench.BenchDatabase.Access;
import dev.outbox.relay.Relay;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.StringReader;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Properties;

/**
 * A relay in a process of its own. Reads the properties of {@link BenchDatabase#address} and the
 * topic from standard input, up to an empty line; then one command a line, until the input ends: so
 * it never outlives the process that started it.
 */
public final class RelayMain {
  static final String STARTED = "started";
  static final String STAMPS = "stamps";
  static final String WORK = "work";
  static final String END = "end";

  private RelayMain() {}

  public static void main(String[] arguments) throws IOException {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    StringBuilder text = new StringBuilder();
    for (String line = in.readLine(); line != null && !line.isEmpty(); line = in.readLine()) {
      text.append(line).append('\n');
    }
    Properties properties = new Properties();
    properties.load(new StringReader(text.toString()));
    WorkCounter counter = new WorkCounter();
    boolean counted = Boolean.parseBoolean(properties.getProperty("count"));
    Access access =
        BenchDatabase.attach(properties)
            .open(Relay.Builder.DEFAULT_WORKERS + 1, counted ? counter : null);
    Stamps stamps =
        new Stamps(
            KafkaTopic.publisher(
                properties.getProperty("bootstrap"), properties.getProperty("topic")));
    Duration keep = Duration.parse(properties.getProperty("keep"));
    Relay.builder(access.store(), stamps).keep(keep).build().start();
    PrintStream out = new PrintStream(System.out, false, UTF_8);
    say(out, STARTED);
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      if (line.equals(STAMPS)) {
        stamps
            .take()
            .forEach((id, s) -> out.println(id + " " + s.called() + " " + s.acknowledged()));
      } else if (line.equals(WORK)) {
        out.println(counter.counted().all() + " " + cpu().getProcessCpuTime());
      }
      say(out, END);
    }
    Runtime.getRuntime().halt(0);
  }

  private static OperatingSystemMXBean cpu() {
    return (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
  }

  private static void say(PrintStream out, String line) {
    out.println(line);
    out.flush();
  }
}
