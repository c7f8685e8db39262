package dev.outbox.embedded;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A real RabbitMQ of its own, on 127.0.0.1 and free ports, with data that go with it. It ends with
 * this JVM, however the JVM ends.
 *
 * <p>It is the one whose {@code sbin} folder the property {@code outbox.embedded.rabbitmq} or the
 * variable {@code OUTBOX_EMBEDDED_RABBITMQ} names; else an installed one; else, on Debian and
 * Ubuntu, that of the system's packages, which are downloaded once and not installed.
 */
public final class EmbeddedRabbit extends EmbeddedServer {
  private static final String USER = "outbox";
  private static final String FIRST_NODE = "outbox@localhost";

  private final RabbitInstallation installation;
  private final Map<String, String> settings;
  private final String password;
  private @Nullable ServerProcess epmd;

  private final boolean tls;

  /** The first of its cluster, which may be itself. */
  private final EmbeddedRabbit first;

  private EmbeddedRabbit(
      RabbitInstallation installation,
      Map<String, String> settings,
      boolean tls,
      @Nullable EmbeddedRabbit joined) {
    super("RabbitMQ", installation.version(), 4);
    this.installation = installation;
    this.settings = settings;
    this.tls = tls;
    first = joined == null ? this : joined;
    password = joined == null ? Password.random() : joined.password;
  }

  public static Builder builder() {
    return new Builder();
  }

  public String uri() {
    return "amqp://%s:%s@127.0.0.1:%s".formatted(USER, password, port());
  }

  /** The same with TLS, where the builder was told {@link Builder#tls}. */
  public String tlsUri() {
    if (!tls) {
      throw new IllegalStateException("there is no TLS here: build it with tls()");
    }
    return "amqps://%s:%s@127.0.0.1:%s".formatted(USER, password, tlsPort());
  }

  /**
   * Runs {@code rabbitmqctl}; it takes seconds.
   *
   * @param arguments as {@code "add_user", "reader", "secret"}
   * @return what it said
   */
  public String control(String... arguments) {
    List<String> command = new ArrayList<>(List.of("env"));
    environment().forEach((name, value) -> command.add(name + "=" + value));
    command.add(installation.script("rabbitmqctl"));
    command.addAll(List.of(arguments));
    try {
      return Program.run(command);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private int distributionPort() {
    return port(1);
  }

  private int epmdPort() {
    return port(2);
  }

  private int tlsPort() {
    return port(3);
  }

  /** Erlang's daemon for names comes first: the server would leave one behind. */
  @Override
  ServerProcess launch() throws IOException {
    if (first == this && (epmd == null || !epmd.isAlive())) {
      Path home = Files.createDirectories(directory().resolve("epmd"));
      String program = installation.program("epmd");
      List<String> command = List.of(program, "-address", "127.0.0.1", "-port", "" + epmdPort());
      ServerProcess started =
          ServerProcess.start("epmd", home, "KILL", command, installation.environment());
      epmd = started;
      started.awaitReady(PATIENCE, () -> Ports.isOpen(epmdPort()));
    }
    configure();
    return process(List.of(installation.script("rabbitmq-server")), environment());
  }

  private void configure() throws IOException {
    Map<String, String> all = new LinkedHashMap<>();
    all.put("listeners.tcp.1", "127.0.0.1:" + port());
    all.put("default_user", USER);
    all.put("default_pass", password);
    all.put("loopback_users." + USER, "true");
    all.put("log.console", "true");
    all.put("log.file", "false");
    all.put("disk_free_limit.absolute", "1MB");
    if (first != this) {
      all.put("cluster_formation.peer_discovery_backend", "classic_config");
      all.put("cluster_formation.classic_config.nodes.1", FIRST_NODE);
    }
    if (tls) {
      all.put("listeners.ssl.1", "127.0.0.1:" + tlsPort());
    }
    all.putAll(settings);
    StringBuilder text = new StringBuilder();
    all.forEach((name, value) -> text.append(name).append(" = ").append(value).append('\n'));
    Path draft = directory().resolve("rabbitmq.conf.draft");
    Files.deleteIfExists(draft);
    Path unused = Password.write(draft, text.toString());
    unused =
        Files.move(
            draft, directory().resolve("rabbitmq.conf"), StandardCopyOption.REPLACE_EXISTING);
    unused = Files.writeString(directory().resolve("enabled_plugins"), "[].\n", UTF_8);
  }

  private Map<String, String> environment() {
    Map<String, String> all = new TreeMap<>(installation.environment());
    Path directory = directory();
    all.put("HOME", first.directory().toString()); // where the cookie is
    all.put("ERL_EPMD_PORT", Integer.toString(first.epmdPort()));
    all.put("RABBITMQ_CONF_ENV_FILE", "/dev/null");
    all.put(
        "RABBITMQ_NODENAME", first == this ? FIRST_NODE : "outbox%s@localhost".formatted(port()));
    all.put("RABBITMQ_DIST_PORT", Integer.toString(distributionPort()));
    all.put("RABBITMQ_CTL_DIST_PORT_MIN", "15000");
    all.put("RABBITMQ_CTL_DIST_PORT_MAX", "32000");
    all.put("RABBITMQ_MNESIA_BASE", directory.resolve("data").toString());
    all.put("RABBITMQ_LOG_BASE", directory.resolve("log").toString());
    all.put("RABBITMQ_LOGS", "-");
    all.put("RABBITMQ_ENABLED_PLUGINS_FILE", directory.resolve("enabled_plugins").toString());
    all.put("RABBITMQ_CONFIG_FILE", directory.resolve("rabbitmq").toString());
    all.put("RABBITMQ_SCHEMA_DIR", directory.resolve("schema").toString());
    all.put("RABBITMQ_GENERATED_CONFIG_DIR", directory.resolve("config").toString());
    all.put("RABBITMQ_FEATURE_FLAGS_FILE", directory.resolve("feature_flags").toString());
    // Makes the script become the server, which signals then reach; the server still reads nothing.
    all.put("RABBITMQ_ALLOW_INPUT", "true");
    // Who talks to other nodes listens for them on 127.0.0.1 only.
    String local = "-kernel inet_dist_use_interface {127,0,0,1}";
    all.put("RABBITMQ_SERVER_START_ARGS", "-noinput");
    all.put("RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS", local);
    all.put("RABBITMQ_CTL_ERL_ARGS", local);
    return all;
  }

  @Override
  boolean isReady(ServerProcess server) {
    return server.hasSaid("Server startup complete");
  }

  @Override
  void release() {
    if (epmd != null) {
      epmd.kill();
      epmd = null;
    }
  }

  /** A setting is a line of {@code rabbitmq.conf}, as {@code setting("max_message_size", "9")}. */
  public static final class Builder extends EmbeddedServer.Builder<Builder> {

    private boolean tls;
    private @Nullable EmbeddedRabbit joined;

    private Builder() {}

    /** Makes it a node of the other one's cluster; close that one last. */
    public Builder join(EmbeddedRabbit first) {
      joined = first;
      return this;
    }

    /**
     * A port more, for clients that use TLS.
     *
     * @param certificate a file in PEM
     * @param key its private key, in PEM and not encrypted
     */
    public Builder tls(Path certificate, Path key) {
      tls = true;
      setting("ssl_options.cacertfile", certificate.toString());
      setting("ssl_options.certfile", certificate.toString());
      return setting("ssl_options.keyfile", key.toString());
    }

    /**
     * Starts it; ready when it returns. The first start on a machine without a RabbitMQ takes as
     * long as its download.
     *
     * @throws UnsupportedOperationException when it cannot run on this machine, with the reason
     */
    public EmbeddedRabbit start() {
      if (Machine.WINDOWS) {
        throw new UnsupportedOperationException("the embedded RabbitMQ needs a shell");
      }
      return started(
          new EmbeddedRabbit(RabbitInstallation.find(), Map.copyOf(settings), tls, joined));
    }
  }
}
