package dev.outbox.cli.demo;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.outbox.cli.Cleanup;
import dev.outbox.cli.RelayProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.StringReader;
import java.util.Properties;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/**
 * A relay of the demo. Reads its properties from standard input, up to an empty line, and runs
 * until the input ends: so it never outlives the demo.
 */
@Command(name = DemoRelayCommand.NAME, hidden = true)
public final class DemoRelayCommand implements Callable<Integer> {
  static final String NAME = "demo-relay";
  static final String STARTED = "started";
  static final String STOP = "stop";

  @Override
  public Integer call() throws IOException {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    StringBuilder text = new StringBuilder();
    for (String line = in.readLine(); line != null && !line.isEmpty(); line = in.readLine()) {
      text.append(line).append('\n');
    }
    Properties properties = new Properties();
    properties.load(new StringReader(text.toString()));
    RelayProcess relay = RelayProcess.start(properties);
    try (Cleanup ignored = Cleanup.atEnd(relay::close)) {
      System.out.println(STARTED);
      System.out.flush();
      if (!STOP.equals(in.readLine())) {
        Runtime.getRuntime().halt(1); // the demo is gone, and with it, as a rule, the servers
      }
    }
    return 0;
  }
}
