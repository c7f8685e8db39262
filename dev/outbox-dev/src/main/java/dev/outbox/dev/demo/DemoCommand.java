package dev.outbox.dev.demo;

import dev.outbox.cli.CliCommand;
import dev.outbox.dev.broker.Broker;
import dev.outbox.dev.database.ServerOptions;
import dev.outbox.dev.database.StoreKind;
import java.util.EnumSet;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
    name = "demo",
    description = {
      "Watch messages go from a real database to a real broker while a relay is killed and the"
          + " broker is stopped; in the end, count what was lost.",
      "Both servers are started for it, unless you name your own; nothing is left behind."
    })
public final class DemoCommand extends CliCommand implements Callable<Integer> {
  private static final int ORDERS = 1_000;
  private static final int THREADS = 4;

  @Option(
      names = "--seed",
      description = "Of everything random; default: another one each time, which is printed.")
  private @Nullable Long seed;

  @Option(
      names = "--quick",
      description = "2,000 transactions, 400 a second; else 20,000, 1,000 a second.")
  private boolean quick;

  @Mixin
  private final ServerOptions server =
      new ServerOptions(EnumSet.complementOf(EnumSet.of(StoreKind.REDIS)));

  @Option(
      names = "--broker",
      paramLabel = "BROKER",
      description = "Which broker is started: kafka or rabbitmq; default: kafka.")
  private Broker.@Nullable Kind broker;

  @Option(
      names = "--bootstrap-servers",
      description = "Your own Kafka (topics of its own are used; it is not stopped).")
  private @Nullable String bootstrapServers;

  @Option(
      names = "--ui",
      description =
          "Serve the operator's page of the demo's outbox, too; at a terminal it stays until Enter.")
  private boolean ui;

  @Override
  public Integer call() throws Exception {
    server.check();
    Demo.Settings settings =
        new Demo.Settings(
            quick ? 2_000 : 20_000,
            ORDERS,
            THREADS,
            quick ? 400 : 1_000,
            seed != null ? seed : ThreadLocalRandom.current().nextInt(1, Integer.MAX_VALUE),
            server::open,
            broker(),
            bootstrapServers,
            ui);
    return new Demo(settings, out()).run();
  }

  private Broker.Kind broker() {
    if (broker != null && bootstrapServers != null) {
      throw wrong(
          "--broker says what to start, --bootstrap-servers names your own Kafka: give one of them");
    }
    return broker != null ? broker : Broker.Kind.KAFKA;
  }
}
