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

/**
 * A real PostgreSQL of its own, on 127.0.0.1 and a free port, in a data directory that goes with
 * it. What it has committed survives SIGKILL: fsync, synchronous_commit and full_page_writes are
 * on. It ends with this JVM, however the JVM ends (on Windows: unless the JVM is killed).
 */
public final class EmbeddedPostgres extends EmbeddedServer implements DatabaseServer {
  private final PostgresBinaries binaries = PostgresBinaries.get();
  private final Map<String, String> settings;
  private final Path data = directory().resolve("data");
  private int port;

  private EmbeddedPostgres(Map<String, String> settings) {
    super("PostgreSQL");
    this.settings = settings;
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
    return "jdbc:postgresql://127.0.0.1:" + port + "/postgres";
  }

  /** The port, the same after {@link #restart()}. */
  public int port() {
    return port;
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
  public Optional<EmbeddedServer> embedded() {
    return Optional.of(this);
  }

  @Override
  void prepare() {
    Directories.copy(binaries.template(), data);
  }

  @Override
  void choosePorts() {
    port = Ports.free();
  }

  @Override
  boolean portTaken() {
    return Ports.isOpen(port);
  }

  @Override
  ServerProcess launch() {
    List<String> command = new ArrayList<>(PostgresBinaries.asOrdinaryUser());
    Path bin =
        binaries.home().resolve("bin").resolve(Machine.WINDOWS ? "postgres.exe" : "postgres");
    command.addAll(List.of(bin.toString(), "-D", data.toString(), "-p", Integer.toString(port)));
    settings.forEach((name, value) -> command.addAll(List.of("-c", name + "=" + value)));
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
          && lines.get(7).strip().equals("ready");
    } catch (IOException e) {
      return false; // not there yet
    }
  }

  /** Settings before the start. */
  public static final class Builder {
    private final Map<String, String> settings = new LinkedHashMap<>();

    private Builder() {
      settings.put("listen_addresses", "127.0.0.1");
      settings.put("unix_socket_directories", "");
      settings.put("fsync", "on");
      settings.put("synchronous_commit", "on");
      settings.put("full_page_writes", "on");
      settings.put("max_connections", "200");
    }

    /** A line of {@code postgresql.conf}, as {@code setting("wal_level", "logical")}. */
    public Builder setting(String name, String value) {
      settings.put(name, value);
      return this;
    }

    /**
     * Starts it; ready when it returns.
     *
     * @throws UnsupportedOperationException when it cannot run on this machine, with the reason
     */
    public EmbeddedPostgres start() {
      EmbeddedPostgres postgres = new EmbeddedPostgres(Map.copyOf(settings));
      postgres.startFirst();
      return postgres;
    }
  }
}
