package dev.outbox.peers;

import dev.outbox.cli.Main;
import picocli.CommandLine.Command;

/** "./outbox bench peers": a program of its own, with libraries that nothing else needs. */
public final class PeersMain {
  private PeersMain() {}

  @Command(name = "bench", subcommands = PeersCommand.class)
  static final class Bench {}

  public static void main(String[] args) {
    // Spring Boot would set up logging anew in each application.
    System.setProperty("org.springframework.boot.logging.LoggingSystem", "none");
    System.exit(Main.commandLine(Bench.class).execute(args));
  }
}
