package dev.outbox.dev;

import dev.outbox.cli.Main;
import dev.outbox.dev.bench.BenchCommand;
import dev.outbox.dev.demo.DemoCommand;
import dev.outbox.dev.tck.TckCommand;
import dev.outbox.dev.torture.TortureCommand;
import picocli.CommandLine;

/** All commands: those of an operator and those of a developer. A checkout runs it. */
public final class DevMain {
  private static final Class<?>[] COMMANDS = {
    DemoCommand.class, TckCommand.class, BenchCommand.class, TortureCommand.class
  };

  private DevMain() {}

  public static void main(String[] args) {
    System.exit(Main.run(commandLine(), args));
  }

  static CommandLine commandLine() {
    return Main.commandLine(COMMANDS);
  }
}
