package dev.outbox.embedded;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;

/**
 * A real {@code nats-server} with JetStream of its own, on 127.0.0.1 and a free port, with data
 * that go with it. It ends with this JVM, however the JVM ends.
 *
 * <p>It is the one that the property {@code outbox.embedded.nats} or the variable {@code
 * OUTBOX_EMBEDDED_NATS} names; else an installed one; else, on Debian and Ubuntu, that of the
 * system's packages, which is downloaded once and not installed.
 */
public final class EmbeddedNats extends EmbeddedServer {
  private static final String PROGRAM = "nats-server";
  private static final Pattern VERSION = Pattern.compile("v(\\d+\\.\\d+\\S*)");

  private final Path program;
  private final String settings;

  private EmbeddedNats(Path program, String settings) {
    super("NATS", Program.version(program, VERSION));
    this.program = program;
    this.settings = settings;
  }

  /** {@link #start(String)} without settings. */
  public static EmbeddedNats start() {
    return start("");
  }

  /**
   * Starts one; ready when it returns.
   *
   * @param settings lines of its configuration, as {@code max_payload: 2MB}
   * @throws UnsupportedOperationException when there is none for this machine, with the reason
   */
  public static EmbeddedNats start(String settings) {
    Path program =
        Machine.program(
            "outbox.embedded.nats",
            PROGRAM,
            () -> DebianPackages.unpacked(List.of(PROGRAM)).resolve("usr/sbin").resolve(PROGRAM));
    return started(new EmbeddedNats(program, settings));
  }

  public String url() {
    return "nats://127.0.0.1:" + port();
  }

  @Override
  ServerProcess launch() throws IOException {
    Path config = directory().resolve("nats.conf");
    Files.writeString(
        config,
        """
        listen: "127.0.0.1:%s"
        jetstream { store_dir: "%s" }
        %s
        """
            .formatted(port(), directory().resolve("data"), settings),
        UTF_8);
    return process(List.of(program.toString(), "--config", config.toString()));
  }

  @Override
  boolean isReady(ServerProcess server) {
    return server.hasSaid("Server is ready");
  }
}
