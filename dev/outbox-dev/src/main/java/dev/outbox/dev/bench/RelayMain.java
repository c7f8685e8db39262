package dev.outbox.dev.bench;

import com.sun.management.OperatingSystemMXBean;
import dev.outbox.dev.bench.BenchDatabase.Access;
import dev.outbox.embedded.ParentJvm;
import dev.outbox.relay.Relay;
import java.lang.management.ManagementFactory;
import java.time.Duration;

/** A relay in a process of its own, for {@link OtherProcess}. */
final class RelayMain {
  static final String STARTED = "started";
  static final String STAMPS = "stamps";
  static final String WORK = "work";
  static final String END = "end";

  private RelayMain() {}

  public static void main(String[] arguments) throws Exception {
    ParentJvm parent = ParentJvm.connect();
    WorkCounter counter = new WorkCounter();
    Access access =
        BenchDatabase.attach(parent.settings()).open(Relay.Builder.DEFAULT_WORKERS + 1, counter);
    Stamps stamps = new Stamps(KafkaTopic.publisher(parent.get("bootstrap"), parent.get("topic")));
    Duration keep = Duration.parse(parent.get("keep"));
    Relay.builder(access.store(), stamps).keep(keep).build().start();
    parent.say(STARTED);
    while (true) {
      switch (parent.command()) {
        case STAMPS ->
            stamps
                .take()
                .forEach((id, s) -> parent.say(id + " " + s.called() + " " + s.acknowledged()));
        case WORK -> parent.say(counter.statements() + " " + cpu().getProcessCpuTime());
        default -> throw new IllegalArgumentException();
      }
      parent.say(END);
    }
  }

  private static OperatingSystemMXBean cpu() {
    return (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
  }
}
