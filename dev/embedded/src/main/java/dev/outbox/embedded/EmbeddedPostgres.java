package dev.outbox.embedded;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A real PostgreSQL of its own, on 127.0.0.1 and a free port, in a data directory that goes with
 * it. What it has committed survives SIGKILL: fsync, synchronous_commit and full_page_writes are
 * on. It ends with this JVM, however the JVM ends (on Windows: unless the JVM is killed).
 *
 * <p>The server is PostgreSQL 18 of Maven Central. The property {@code
 * outbox.test.postgres.version} or the variable {@code OUTBOX_TEST_POSTGRES_VERSION} asks for
 * another: {@code 14}, {@code 15}, {@code 16} or {@code 17} (Linux on x86-64), which is downloaded
 * once; {@code installed}, the newest that Debian's packages have installed; or the folder with the
 * programs of one. Those of Maven Central are built without JIT; an installed one keeps the
 * settings that it ships with, JIT among them.
 */
public final class EmbeddedPostgres extends EmbeddedServer implements DatabaseServer {
  /** What a server calls itself that takes connections. */
  private static final Set<String> READY = Set.of("ready", "standby");

  private final PostgresBinaries binaries;
  private final Map<String, String> settings = new LinkedHashMap<>();
  private final boolean unixSocket;
  private final Path data = directory().resolve("data");
  private final @Nullable EmbeddedPostgres primary;

  private EmbeddedPostgres(PostgresBinaries binaries, Builder builder) {
    super("PostgreSQL", binaries.installation().label());
    this.binaries = binaries;
    settings.put("listen_addresses", "127.0.0.1");
    if (!binaries.installation().isInstalled()) {
      settings.put("max_connections", "200");
    }
    settings.putAll(builder.settings);
    unixSocket = builder.unixSocket;
    primary = builder.primary;
  }

  /** Starts one with the default settings; ready when it returns. */
  public static EmbeddedPostgres start() {
    return builder().start();
  }

  public static Builder builder() {
    return new Builder();
  }

  @Override
  public String jdbcUrl() {
    return "jdbc:postgresql://127.0.0.1:" + port() + "/postgres";
  }

  /** Where its Unix socket is, when it was started with one ({@link Builder#unixSocket}). */
  Optional<Path> socketDirectory() {
    return unixSocket ? Optional.of(data) : Optional.empty();
  }

  @Override
  public String user() {
    return "postgres";
  }

  @Override
  public String password() {
    return binaries.password();
  }

  @Override
  void prepare() throws IOException {
    if (primary == null) {
      Directories.copy(binaries.template(), data);
      return;
    }
    Directories.copy(primary.data, data);
    Path signal = Files.createFile(data.resolve("standby.signal"));
    Files.setOwner(signal, Files.getOwner(data));
  }

  @Override
  ServerProcess launch() {
    List<String> command = new ArrayList<>(PostgresBinaries.asOrdinaryUser());
    Path program = binaries.installation().program("postgres");
    command.addAll(
        List.of(program.toString(), "-D", data.toString(), "-p", Integer.toString(port())));
    settings.forEach((name, value) -> command.addAll(List.of("-c", name + "=" + value)));
    String sockets = socketDirectory().map(Path::toString).orElse("");
    command.addAll(List.of("-c", "unix_socket_directories=" + sockets));
    return ServerProcess.start("PostgreSQL", directory(), "QUIT", command, Map.of());
  }

  @Override
  String stopSignal() {
    return "INT"; // "fast": does not wait for connections
  }

  /** The server says so itself, in its own directory: no stranger on that port can. */
  @Override
  boolean isReady(ServerProcess server) {
    try {
      List<String> lines = Files.readAllLines(data.resolve("postmaster.pid"), UTF_8);
      return lines.size() > 7
          && lines.get(0).equals(Long.toString(server.handle().pid()))
          && READY.contains(lines.get(7).strip());
    } catch (IOException e) {
      return false; // not there yet
    }
  }

  /** A setting is a line of {@code postgresql.conf}, as {@code setting("wal_level", "logical")}. */
  public static final class Builder extends EmbeddedServer.Builder<Builder> {
    private boolean unixSocket;

    private @Nullable String version = Machine.setting(PostgresInstallation.PROPERTY);
    private @Nullable EmbeddedPostgres primary;

    private Builder() {}

    /** Which one, as the property has it: for a test that needs two. Default: the property's. */
    public Builder version(String version) {
      this.version = version;
      return this;
    }

    /**
     * Makes it a standby of another, which receives what that one commits from its next start on,
     * and takes its place by {@code pg_promote()}.
     *
     * @param stopped by {@link EmbeddedServer#stop()}, because its data are copied
     */
    public Builder standbyOf(EmbeddedPostgres stopped) {
      primary = stopped;
      return setting(
          "primary_conninfo",
          "host=127.0.0.1 port=%s user=%s password=%s"
              .formatted(stopped.port(), stopped.user(), stopped.password()));
    }

    /** Also listens at a Unix socket, for an {@link EmbeddedPgBouncer} in front. Default: not. */
    public Builder unixSocket() {
      unixSocket = true;
      return this;
    }

    /**
     * Starts it; ready when it returns.
     *
     * @throws UnsupportedOperationException when it cannot run on this machine, with the reason
     */
    public EmbeddedPostgres start() {
      return started(new EmbeddedPostgres(PostgresBinaries.get(version), this));
    }
  }
}
