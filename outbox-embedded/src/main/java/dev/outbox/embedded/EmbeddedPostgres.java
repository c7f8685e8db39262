package dev.outbox.embedded;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A real PostgreSQL of its own, on 127.0.0.1 and a free port, in a data directory that goes with
 * it. What it has committed survives SIGKILL: fsync, synchronous_commit and full_page_writes are
 * on. It ends with this JVM, however the JVM ends (on Windows: unless the JVM is killed).
 */
public final class EmbeddedPostgres implements PostgresServer {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final boolean WINDOWS = System.getProperty("os.name").startsWith("Windows");

  private final PostgresBinaries binaries;
  private final Map<String, String> settings;
  private final Path directory;
  private final Path data;
  private final Thread hook = new Thread(this::shutdown, "outbox-embedded-postgres-shutdown");
  private int port;
  private @Nullable ServerProcess server;

  private EmbeddedPostgres(Map<String, String> settings) {
    this.settings = settings;
    binaries = PostgresBinaries.get();
    try {
      directory = Files.createTempDirectory("outbox-postgres-").toRealPath();
      PostgresBinaries.open(directory);
      data = directory.resolve("data");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Runtime.getRuntime().addShutdownHook(hook);
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
  public Optional<EmbeddedPostgres> embedded() {
    return Optional.of(this);
  }

  /** Ends it by SIGKILL, as a crash would, and waits until all its processes are gone. */
  public synchronized void kill() {
    if (server != null) {
      server.kill();
      server = null;
    }
  }

  /** Shuts it down in good order, cutting connections off. The data stay for {@link #restart()}. */
  public synchronized void stop() {
    if (server != null) {
      server.stop("INT", PATIENCE);
      server = null;
    }
  }

  /** Stops it if it runs, and starts it again on the same port and data. */
  public synchronized void restart() {
    stop();
    launch();
  }

  /** Stops it and deletes its data. */
  @Override
  public void close() {
    shutdown();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // the JVM is shutting down: the hook finds nothing to do
    }
  }

  private synchronized void shutdown() {
    try {
      stop();
    } finally {
      Directories.delete(directory);
    }
  }

  private synchronized void startFirst() {
    Directories.copy(binaries.template(), data);
    for (int tries = 1; ; tries++) {
      port = Ports.free();
      try {
        launch();
        return;
      } catch (IllegalStateException e) {
        if (tries == 5 || !Ports.isOpen(port)) {
          throw e; // otherwise somebody else took the port in the meantime
        }
      }
    }
  }

  private void launch() {
    List<String> command = new ArrayList<>(PostgresBinaries.asOrdinaryUser());
    Path bin = binaries.home().resolve("bin").resolve(WINDOWS ? "postgres.exe" : "postgres");
    command.addAll(List.of(bin.toString(), "-D", data.toString(), "-p", Integer.toString(port)));
    settings.forEach((name, value) -> command.addAll(List.of("-c", name + "=" + value)));
    ServerProcess started = ServerProcess.start("PostgreSQL", directory, "QUIT", command, Map.of());
    server = started;
    try {
      started.awaitReady(PATIENCE, this::isReady);
    } catch (RuntimeException e) {
      kill();
      throw e;
    }
  }

  /** The server says so itself, in its own directory: no stranger on that port can. */
  private boolean isReady() {
    try {
      List<String> lines = Files.readAllLines(data.resolve("postmaster.pid"), UTF_8);
      return lines.size() > 7
          && server != null
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
      try {
        postgres.startFirst();
        return postgres;
      } catch (RuntimeException e) {
        postgres.close();
        throw e;
      }
    }
  }
}
