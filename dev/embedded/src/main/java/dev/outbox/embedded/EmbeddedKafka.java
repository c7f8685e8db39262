package dev.outbox.embedded;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The real Kafka broker in a JVM of its own, on 127.0.0.1 and a free port, with data that go with
 * it: a cluster of one, or of more by {@link Builder#joining}. What it has acknowledged survives
 * SIGKILL of the broker: it is in the file system's cache by then. A power cut it need not survive;
 * Kafka relies on replicas for that.
 */
public final class EmbeddedKafka extends EmbeddedServer {
  private static final String STARTED = "Kafka Server started";

  private final Map<String, String> settings;
  private final int advertisedPort;
  private final boolean scram;
  private final boolean jvmDefaults;
  private final @Nullable EmbeddedKafka first;
  private final AtomicInteger nodes = new AtomicInteger(1);
  private final int node;
  private final String clusterId;
  private final Path broker = unpackedBroker();
  private boolean formatted;

  private EmbeddedKafka(Builder builder) {
    super("Kafka", Cache.version("kafka"), 3);
    this.settings = Map.copyOf(builder.settings);
    this.advertisedPort = builder.advertisedPort;
    this.scram = builder.scram;
    this.jvmDefaults = builder.jvmDefaults;
    this.first = builder.first;
    this.node = first == null ? 1 : first.nodes.incrementAndGet();
    // An id may not begin with "-"; which one it is does not matter.
    this.clusterId =
        first == null
            ? "O" + UUID.randomUUID().toString().replace("-", "").substring(0, 21)
            : first.clusterId;
  }

  /** Starts one with the default settings; ready when it returns. */
  public static EmbeddedKafka start() {
    return builder().start();
  }

  public static Builder builder() {
    return new Builder();
  }

  public String bootstrapServers() {
    return "127.0.0.1:" + port();
  }

  /** The same for clients that log in, where the builder was told {@link Builder#scram}. */
  public String scramBootstrapServers() {
    if (!scram) {
      throw new IllegalStateException("nobody can log in here: build it with scram()");
    }
    return "127.0.0.1:" + scramPort();
  }

  /** Its number in the cluster: 1 for the first. */
  public int node() {
    return node;
  }

  private int controllerPort() {
    return port(1);
  }

  private int scramPort() {
    return port(2);
  }

  @Override
  ServerProcess launch() throws IOException {
    Path properties = directory().resolve("server.properties");
    Files.write(properties, configuration(), UTF_8);
    if (!formatted) {
      Program.run(
          java("kafka.tools.StorageTool", "format", "-t", clusterId, "-c", properties.toString()));
      formatted = true;
    }
    return process(java("kafka.Kafka", properties.toString()));
  }

  @Override
  boolean isReady(ServerProcess server) {
    return server.hasSaid(STARTED) && Ports.isOpen(port());
  }

  private List<String> configuration() {
    Map<String, String> all = new LinkedHashMap<>(settings);
    boolean controls = first == null;
    all.put("process.roles", controls ? "broker,controller" : "broker");
    all.put("node.id", Integer.toString(node));
    all.put(
        "controller.quorum.voters",
        "1@127.0.0.1:" + (first == null ? controllerPort() : first.controllerPort()));
    all.put("controller.listener.names", "CONTROLLER");
    int told = advertisedPort != 0 ? advertisedPort : port();
    String login = scram ? ",SASL_PLAINTEXT://127.0.0.1:" + scramPort() : "";
    String controller = controls ? ",CONTROLLER://127.0.0.1:" + controllerPort() : "";
    all.put("listeners", "PLAINTEXT://127.0.0.1:" + port() + login + controller);
    all.put("advertised.listeners", "PLAINTEXT://127.0.0.1:" + told + login);
    all.put(
        "listener.security.protocol.map",
        "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT");
    all.put("sasl.enabled.mechanisms", "SCRAM-SHA-256");
    all.put(
        "listener.name.sasl_plaintext.scram-sha-256.sasl.jaas.config",
        "org.apache.kafka.common.security.scram.ScramLoginModule required;");
    all.put("log.dirs", directory().resolve("data").toString().replace('\\', '/'));
    return all.entrySet().stream().map(e -> e.getKey() + "=" + e.getValue()).toList();
  }

  private List<String> java(String... mainAndArguments) {
    List<String> command = new ArrayList<>();
    command.add(Machine.jdk("java"));
    command.addAll(List.of("-Xmx384m", "-XX:+UseSerialGC", "-cp", broker.resolve("*").toString()));
    if (!jvmDefaults) {
      command.add("-XX:TieredStopAtLevel=1");
    }
    command.add("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn");
    command.add("-Dorg.slf4j.simpleLogger.log.kafka.server=info");
    command.addAll(List.of(mainAndArguments));
    return command;
  }

  private static Path unpackedBroker() {
    try {
      String jars = new String(resource("/kafka-broker/jars.txt").readAllBytes(), UTF_8).strip();
      return Cache.get(
          "kafka-" + Cache.version("kafka"),
          path -> {
            for (String jar : jars.split(":")) {
              try (InputStream in = resource("/" + jar)) {
                Files.copy(in, path.resolve(jar.substring(jar.lastIndexOf('/') + 1)));
              }
            }
          });
    } catch (IOException e) {
      throw new UncheckedIOException("Kafka could not be unpacked: " + e.getMessage(), e);
    }
  }

  private static InputStream resource(String name) throws IOException {
    InputStream in = EmbeddedKafka.class.getResourceAsStream(name);
    if (in == null) {
      throw new IOException("the class path has no " + name);
    }
    return in;
  }

  /** A setting is one of the broker, as {@code setting("auto.create.topics.enable", "false")}. */
  public static final class Builder extends EmbeddedServer.Builder<Builder> {
    private int advertisedPort;
    private boolean scram;
    private boolean jvmDefaults;
    private @Nullable EmbeddedKafka first;

    private Builder() {
      setting("min.insync.replicas", "1");
      setting("default.replication.factor", "1");
      setting("offsets.topic.replication.factor", "1");
      setting("offsets.topic.num.partitions", "4");
      setting("transaction.state.log.replication.factor", "1");
      setting("transaction.state.log.min.isr", "1");
      setting("transaction.state.log.num.partitions", "4");
      setting("share.coordinator.state.topic.replication.factor", "1");
      setting("share.coordinator.state.topic.min.isr", "1");
      setting("share.coordinator.state.topic.num.partitions", "1");
      setting("group.initial.rebalance.delay.ms", "0");
      // A killed broker can only come back when its old session has expired.
      setting("broker.session.timeout.ms", "3000");
      setting("broker.heartbeat.interval.ms", "500");
    }

    /**
     * The port on 127.0.0.1 that clients are told to use, as of a proxy; default: the broker's own.
     */
    public Builder advertisedPort(int port) {
      advertisedPort = port;
      return this;
    }

    /**
     * With the JVM's own compilers, for what is to be fast; else it starts with half the CPU time.
     */
    public Builder jvmDefaults() {
      jvmDefaults = true;
      return this;
    }

    /** A port more, for clients that log in with SCRAM-SHA-256; users are made by an admin. */
    public Builder scram() {
      scram = true;
      return this;
    }

    /**
     * Makes it one more broker of the cluster that begins with that one; the first one controls it,
     * so that this one can be killed and paused.
     */
    public Builder joining(EmbeddedKafka first) {
      this.first = first;
      return this;
    }

    /** Starts it; ready when it returns. */
    public EmbeddedKafka start() {
      return started(new EmbeddedKafka(this));
    }
  }
}
