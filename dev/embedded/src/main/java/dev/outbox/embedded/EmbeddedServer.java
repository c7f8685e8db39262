package dev.outbox.embedded;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * A server in a process of its own, with a directory that goes with it. It ends with this JVM,
 * however the JVM ends (on Windows: unless the JVM is killed).
 */
public abstract sealed class EmbeddedServer implements AutoCloseable
    permits EmbeddedPostgres,
        EmbeddedPgBouncer,
        EmbeddedMysql,
        EmbeddedKafka,
        EmbeddedRegistry,
        EmbeddedNats,
        EmbeddedRabbit,
        EmbeddedRedis {
  static final Duration PATIENCE = Duration.ofMinutes(3);
  private static final List<Runnable> USERS = new CopyOnWriteArrayList<>();

  private final String name;
  private final String version;
  private final Path directory;
  private final int neededPorts;
  private final Thread hook;
  private List<Integer> ports = List.of();
  private @Nullable ServerProcess server;

  EmbeddedServer(String name, String version) {
    this(name, version, 1);
  }

  /** On so many ports of its own. */
  EmbeddedServer(String name, String version, int neededPorts) {
    this.name = name;
    this.version = version;
    this.neededPorts = neededPorts;
    try {
      directory =
          Files.createTempDirectory("outbox-" + name.toLowerCase(Locale.ROOT) + "-").toRealPath();
      Cache.open(directory);
    } catch (IOException e) {
      throw new UncheckedIOException("no directory for " + name, e);
    }
    hook = new Thread(this::shutdownAfterUsers, directory.getFileName() + "-shutdown");
    Runtime.getRuntime().addShutdownHook(hook);
  }

  /**
   * When the JVM shuts down, runs this before any server ends, so that what uses them ends in good
   * order: hooks of a JVM have no order of their own.
   *
   * @param end returns when the servers are not used any more; is run once for each server, by
   *     several threads at once
   */
  public static void beforeShutdown(Runnable end) {
    USERS.add(end);
  }

  /** Makes the data directory, if the server needs one before it starts. */
  void prepare() throws IOException {}

  abstract ServerProcess launch() throws IOException;

  abstract boolean isReady(ServerProcess server);

  /** By it the server shuts down in good order, and does not wait for its clients. */
  String stopSignal() {
    return "TERM";
  }

  /** Ends what the server needs besides itself; called when it is closed or could not start. */
  void release() {}

  /** Starts the server's process, which SIGKILL ends when this JVM ends. */
  final ServerProcess process(List<String> command, Map<String, String> environment) {
    return ServerProcess.start(name, directory, "KILL", command, environment);
  }

  final ServerProcess process(List<String> command) {
    return process(command, Map.of());
  }

  final Path directory() {
    return directory;
  }

  /** Where it listens on 127.0.0.1; the same after {@link #restart()}. */
  public final int port() {
    return port(0);
  }

  /** Another of its ports: 0 is {@link #port()}. */
  final int port(int index) {
    return ports.get(index);
  }

  /** What the server writes; deleted by {@link #close()}. */
  public final Path log() {
    return ServerProcess.log(directory);
  }

  /** Saves what the server wrote, over what was there; nothing where it wrote nothing. */
  public final void copyLog(Path to) throws IOException {
    if (Files.exists(log())) {
      Files.copy(log(), to, StandardCopyOption.REPLACE_EXISTING);
    }
  }

  /** The server's process id; it changes with each restart. */
  public final synchronized long pid() {
    return running().handle().pid();
  }

  /** Ends it by SIGKILL, as a crash would, and waits until all its processes are gone. */
  public final synchronized void kill() {
    if (server != null) {
      server.kill();
      server = null;
    }
  }

  /** Shuts it down in good order, cutting connections off. The data stay for {@link #restart()}. */
  public final synchronized void stop() {
    if (server != null) {
      server.stop(stopSignal(), PATIENCE);
      server = null;
    }
  }

  /**
   * Stops it in the middle of whatever it does (SIGSTOP); its connections stay open. On Linux none
   * of its threads runs any more when this returns. Processes that it has started go on.
   */
  public final synchronized void pause() {
    running().pause();
  }

  /** Lets it go on after {@link #pause()}. */
  public final synchronized void resume() {
    running().signal("CONT");
  }

  /** Stops it if it runs, and starts it again on the same port and data. */
  public final synchronized void restart() {
    stop();
    run();
  }

  /** Ends it and deletes its data. */
  @Override
  public final void close() {
    shutdown();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // the JVM is shutting down: the hook finds nothing to do
    }
  }

  /** As {@code embedded PostgreSQL 15.19}. */
  @Override
  public final String toString() {
    return "embedded " + name + " " + version;
  }

  /** What is set before the start. */
  public abstract static class Builder<B extends Builder<B>> {
    final Map<String, String> settings = new LinkedHashMap<>();

    Builder() {}

    /** Gives the server a setting of its own. */
    public B setting(String name, String value) {
      return settings(Map.of(name, value));
    }

    /** The same for several. */
    @SuppressWarnings("unchecked") // each is a builder of itself
    public B settings(Map<String, String> more) {
      settings.putAll(more);
      return (B) this;
    }
  }

  /** Starts it; ready when it returns. */
  static <S extends EmbeddedServer> S started(S server) {
    server.startFirst();
    return server;
  }

  final synchronized void startFirst() {
    try {
      tried(this::prepare);
      for (int tries = 1; ; tries++) {
        ports = Ports.free(neededPorts);
        try {
          run();
          return;
        } catch (IllegalStateException e) {
          release();
          boolean portTaken = ports.stream().anyMatch(Ports::isOpen);
          if (tries == 3 || !portTaken) {
            throw e;
          }
        }
      }
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  private ServerProcess running() {
    if (server == null) {
      throw new IllegalStateException(name + " does not run: start it with restart()");
    }
    return server;
  }

  private interface Step {
    void run() throws IOException;
  }

  private void tried(Step step) {
    try {
      step.run();
    } catch (IOException e) {
      throw new UncheckedIOException(name + " could not be started: " + e.getMessage(), e);
    }
  }

  private void run() {
    tried(() -> server = launch());
    ServerProcess started = running();
    try {
      started.awaitReady(PATIENCE, () -> isReady(started));
    } catch (RuntimeException e) {
      kill();
      throw e;
    }
  }

  private void shutdownAfterUsers() {
    try {
      USERS.forEach(Runnable::run);
    } finally {
      shutdown();
    }
  }

  private synchronized void shutdown() {
    try {
      kill();
      release();
    } finally {
      Directories.delete(directory);
    }
  }
}
