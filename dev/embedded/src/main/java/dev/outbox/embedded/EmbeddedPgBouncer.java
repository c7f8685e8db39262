package dev.outbox.embedded;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.opentest4j.TestAbortedException;

/**
 * A real PgBouncer in front of an {@link EmbeddedPostgres}: the installed program {@code
 * pgbouncer}, as by Debian's package of that name, or the one that the property {@code
 * outbox.pgbouncer} or the variable {@code OUTBOX_PGBOUNCER} names. On 127.0.0.1 and a free port,
 * in transaction mode. It reaches the server by TCP, or by its Unix socket when the server was
 * started with one.
 */
public final class EmbeddedPgBouncer extends EmbeddedServer implements DatabaseServer {
  private static final Pattern VERSION = Pattern.compile("PgBouncer (\\d+\\.\\d+\\S*)");

  private final EmbeddedPostgres postgres;
  private final Path program;
  private final Map<String, String> settings = new LinkedHashMap<>();

  private EmbeddedPgBouncer(EmbeddedPostgres postgres, Path program, Map<String, String> settings) {
    super("PgBouncer", Program.version(program, VERSION));
    this.postgres = postgres;
    this.program = program;
    this.settings.put("pool_mode", "transaction");
    this.settings.put("ignore_startup_parameters", "extra_float_digits,search_path,options");
    this.settings.putAll(settings);
  }

  /**
   * Starts one; ready when it returns.
   *
   * @param settings lines of {@code pgbouncer.ini}
   * @throws TestAbortedException when the program is not installed; tests are then listed as
   *     skipped
   */
  public static EmbeddedPgBouncer start(EmbeddedPostgres postgres, Map<String, String> settings) {
    return started(new EmbeddedPgBouncer(postgres, program(), settings));
  }

  /**
   * Whether it can carry prepared statements from one server process to another: since 1.21, with
   * the setting {@code max_prepared_statements}.
   *
   * @throws TestAbortedException as {@link #start}
   */
  public static boolean carriesStatements() {
    String[] version = Program.version(program(), VERSION).split("\\.");
    return Integer.parseInt(version[0]) > 1 || Integer.parseInt(version[1]) >= 21;
  }

  private static Path program() {
    return Machine.program(
        "outbox.pgbouncer",
        "pgbouncer",
        () ->
            TestServers.orSkip(
                "PgBouncer",
                () -> {
                  throw new UnsupportedOperationException(
                      "install pgbouncer, as by Debian's package of that name, or name one with"
                          + " -Doutbox.pgbouncer=…");
                },
                ""));
  }

  @Override
  public String jdbcUrl() {
    return "jdbc:postgresql://127.0.0.1:" + port() + "/postgres";
  }

  @Override
  public String user() {
    return postgres.user();
  }

  @Override
  public String password() {
    return postgres.password();
  }

  @Override
  void prepare() throws IOException {
    write("users.txt", "\"%s\" \"%s\"%n".formatted(user(), password()));
  }

  @Override
  ServerProcess launch() throws IOException {
    String host = postgres.socketDirectory().map(Path::toString).orElse("127.0.0.1");
    StringBuilder ini = new StringBuilder("[databases]\n");
    ini.append("* = host=%s port=%s%n".formatted(host, postgres.port()));
    ini.append("[pgbouncer]\nlisten_addr = 127.0.0.1\nunix_socket_dir =\nauth_type = plain\n");
    ini.append("listen_port = %s%nauth_file = %s%n".formatted(port(), file("users.txt")));
    settings.forEach((name, value) -> ini.append(name).append(" = ").append(value).append('\n'));
    Path config = write("pgbouncer.ini", ini.toString());
    List<String> command = new ArrayList<>(PostgresBinaries.asOrdinaryUser());
    command.addAll(List.of(program.toString(), config.toString()));
    return process(command);
  }

  @Override
  boolean isReady(ServerProcess server) {
    return server.hasSaid("process up");
  }

  private Path file(String name) {
    return directory().resolve(name);
  }

  /** Has a password in it, or the name of the file with one: for nobody else. */
  private Path write(String name, String text) throws IOException {
    Path file = file(name);
    Files.deleteIfExists(file);
    Password.write(file, text);
    PostgresBinaries.own(file);
    return file;
  }
}
