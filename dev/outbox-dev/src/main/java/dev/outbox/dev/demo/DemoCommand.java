package dev.outbox.dev.demo;

import dev.outbox.cli.DatabaseOptions;
import dev.outbox.dev.BrokerKind;
import dev.outbox.dev.ServerOptions;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

@Command(
    name = "demo",
    mixinStandardHelpOptions = true,
    description = {
      "Watch messages go from a real database to a real broker while a relay is killed and the"
          + " broker is stopped; in the end, count what was lost.",
      "Both servers are started for it, unless you name your own; nothing is left behind."
    })
public final class DemoCommand implements Callable<Integer> {
  private static final int QUICK_TRANSACTIONS = 2_000;
  private static final int TRANSACTIONS = 20_000;
  private static final int QUICK_RATE = 400;
  private static final int RATE = 1_000;

  @Option(
      names = "--transactions",
      description = "How many are committed; default: 20000, with --quick 2000.")
  private @Nullable Integer transactions;

  @Option(
      names = "--orders",
      defaultValue = "1000",
      description = "Over how many orders; default: ${DEFAULT-VALUE}.")
  private int orders;

  @Option(
      names = "--threads",
      defaultValue = "4",
      description = "Of the order service; default: ${DEFAULT-VALUE}.")
  private int threads;

  @Option(
      names = "--rate",
      description =
          "Transactions a second; 0: as many as there can be; default: 1000, with --quick 400."
              + " In the quiet times in the end 200 at most.")
  private @Nullable Integer rate;

  @Option(
      names = "--seed",
      description = "Of everything random; default: another one each time, which is printed.")
  private @Nullable Long seed;

  @Option(names = "--quick", description = "A tenth of the transactions.")
  private boolean quick;

  @Option(
      names = "--keep",
      description =
          "Leave database and broker running in the end, with all that is in them, until Ctrl-C.")
  private boolean keep;

  @Mixin private final ServerOptions server = new ServerOptions();

  @Option(
      names = "--broker",
      paramLabel = "BROKER",
      description =
          "Which broker is started: kafka, rabbitmq, nats, or http, which is a receiver of"
              + " CloudEvents; default: kafka.")
  private @Nullable BrokerKind broker;

  @Option(
      names = "--bootstrap-servers",
      description = "Your own Kafka (topics of its own are used; it is not stopped).")
  private @Nullable String bootstrapServers;

  @Spec
  @SuppressWarnings("NullAway.Init") // set by picocli
  private CommandSpec spec;

  @Override
  public Integer call() throws InterruptedException {
    DatabaseOptions own = server.own();
    DemoSettings settings =
        new DemoSettings(
            between("--transactions", transactions, QUICK_TRANSACTIONS, TRANSACTIONS, 1, 5_000_000),
            between("--orders", orders, orders, orders, 1, 1_000_000),
            between("--threads", threads, threads, threads, 1, 64),
            between("--rate", rate, QUICK_RATE, RATE, 0, 1_000_000),
            seed != null ? seed : ThreadLocalRandom.current().nextInt(1, Integer.MAX_VALUE),
            server.kind(),
            own == null ? null : own.address(),
            broker(),
            bootstrapServers,
            keep);
    return new Demo(settings, spec.commandLine().getOut()).run();
  }

  private BrokerKind broker() {
    if (broker != null && bootstrapServers != null) {
      throw new ParameterException(
          spec.commandLine(),
          "--broker says what to start, --bootstrap-servers names your own Kafka: give one of them");
    }
    return broker != null ? broker : BrokerKind.KAFKA;
  }

  private int between(
      String option, @Nullable Integer given, int ifQuick, int otherwise, int least, int most) {
    int value = given != null ? given : quick ? ifQuick : otherwise;
    if (value < least || value > most) {
      throw new ParameterException(
          spec.commandLine(),
          "%s is %d, allowed is from %d to %d".formatted(option, value, least, most));
    }
    return value;
  }
}
