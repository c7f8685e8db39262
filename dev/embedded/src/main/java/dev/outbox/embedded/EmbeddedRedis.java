package dev.outbox.embedded;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A real {@code redis-server} of its own, on 127.0.0.1 and a free port, with data that go with it.
 * It writes each command to the disk before it answers. It ends with this JVM, however the JVM
 * ends.
 *
 * <p>It is the one that the property {@code outbox.embedded.redis} or the variable {@code
 * OUTBOX_EMBEDDED_REDIS} names; else an installed one; else, on Debian and Ubuntu, that of the
 * system's packages, which is downloaded once and not installed.
 */
public final class EmbeddedRedis extends EmbeddedServer {
  private static final String PROPERTY = "outbox.embedded.redis";
  private static final String PROGRAM = "redis-server";
  private static final Pattern VERSION = Pattern.compile("v=(\\d+\\.\\d+\\S*)");

  private final Installation installation;
  private final List<String> settings;

  /**
   * @param libraries where it finds those that are not installed; may be empty
   */
  private record Installation(Path program, String libraries) {

    Map<String, String> environment() {
      return libraries.isEmpty() ? Map.of() : Map.of("LD_LIBRARY_PATH", libraries);
    }

    String version() {
      List<String> command = new ArrayList<>(List.of("env"));
      environment().forEach((name, value) -> command.add(name + "=" + value));
      command.addAll(List.of(program.toString(), "--version"));
      try {
        return Program.version(command, VERSION);
      } catch (IOException e) {
        SharedLibraries.check("Redis", program);
        throw new UncheckedIOException(e);
      }
    }
  }

  private EmbeddedRedis(Installation installation, List<String> settings) {
    super("Redis", installation.version());
    this.installation = installation;
    this.settings = settings;
  }

  /**
   * Starts one; ready when it returns.
   *
   * @param settings options of its command line, as {@code --maxmemory}, {@code 10mb}; {@code
   *     --sentinel} makes it a Sentinel
   * @throws UnsupportedOperationException when there is none for this machine, with the reason
   */
  public static EmbeddedRedis start(String... settings) {
    return started(new EmbeddedRedis(installation(), List.of(settings)));
  }

  private static Installation installation() {
    String named = Machine.setting(PROPERTY);
    if (named != null) {
      return new Installation(Path.of(named), "");
    }
    return Machine.program(PROGRAM)
        .map(program -> new Installation(program, ""))
        .orElseGet(EmbeddedRedis::unpacked);
  }

  private static Installation unpacked() {
    Path root = DebianPackages.unpacked(List.of(PROGRAM, "redis-tools", "libjemalloc2", "liblzf1"));
    try (Stream<Path> folders = Files.list(root.resolve("usr/lib"))) {
      return new Installation(
          root.resolve("usr/bin").resolve(PROGRAM),
          folders.map(Path::toString).collect(Collectors.joining(":")));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public String url() {
    return "redis://127.0.0.1:" + port();
  }

  @Override
  ServerProcess launch() throws IOException {
    Path config = directory().resolve("redis.conf"); // a Sentinel writes into it
    Files.writeString(
        config,
        """
        bind 127.0.0.1
        port %s
        dir "%s"
        appendonly yes
        appendfsync always
        """
            .formatted(port(), directory()),
        UTF_8);
    List<String> command =
        new ArrayList<>(List.of(installation.program().toString(), config.toString()));
    command.addAll(settings);
    return process(command, installation.environment());
  }

  @Override
  boolean isReady(ServerProcess server) {
    return server.hasSaid("Ready to accept connections") || server.hasSaid("Sentinel ID is");
  }
}
