package dev.outbox.dev.demo;

import dev.outbox.cli.RelayProcess;
import dev.outbox.embedded.ParentJvm;
import java.util.Properties;

/** A relay of the demo, in a process of its own: the relay that operators run. */
final class DemoRelay {
  static final String STARTED = "started";
  static final String STOP = "stop";

  private DemoRelay() {}

  public static void main(String[] args) throws Exception {
    ParentJvm parent = ParentJvm.connect();
    Properties properties = new Properties();
    properties.putAll(parent.settings());
    try (RelayProcess relay = RelayProcess.start(properties)) {
      parent.say(STARTED);
      while (!parent.command().equals(STOP)) {}
    }
  }
}
