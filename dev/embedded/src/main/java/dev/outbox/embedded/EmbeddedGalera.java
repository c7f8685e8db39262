package dev.outbox.embedded;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * A Galera cluster of three {@linkplain EmbeddedMysql#mariadb() MariaDB} servers on 127.0.0.1. They
 * begin with the same data, so none needs to be sent another's, which would take more programs. For
 * the same reason a node that has ended cannot come back. They end with this JVM, however it ends.
 *
 * <p>Galera's library is the one that the property {@code outbox.embedded.galera} or the variable
 * {@code OUTBOX_EMBEDDED_GALERA} names; else an installed one; else, on Debian and Ubuntu, that of
 * the system's packages, which is downloaded once and not installed.
 */
public final class EmbeddedGalera {
  private static final int NODES = 3;
  private static final String PROPERTY = "outbox.embedded.galera";
  private static final String LIBRARY = "usr/lib/libgalera_smm.so";

  /** What a node has that joins as the one of this number: each that joins is a change. */
  private static final String STATE =
      """
      # GALERA saved state
      version: 2.1
      uuid:    6f757462-6f78-4000-8000-000000000000
      seqno:   %s
      safe_to_bootstrap: 1
      """;

  private final List<EmbeddedMysql> nodes = new ArrayList<>();

  private EmbeddedGalera() {}

  /**
   * Starts one; when it returns, all of its nodes are in it.
   *
   * @throws UnsupportedOperationException when it cannot run on this machine, with the reason
   */
  public static EmbeddedGalera start() {
    EmbeddedGalera cluster = new EmbeddedGalera();
    try {
      Path library = library();
      SharedLibraries.check("Galera", library);
      List<Integer> ports = Ports.free(NODES);
      for (int port : ports) {
        cluster.join(library, port, cluster.nodes.isEmpty() ? "" : "127.0.0.1:" + ports.get(0));
      }
      return cluster;
    } catch (RuntimeException e) {
      cluster.nodes.forEach(EmbeddedMysql::close);
      throw e;
    }
  }

  /**
   * Starts a node, and waits until it is in.
   *
   * @param others empty: it is the first
   */
  private void join(Path library, int port, String others) {
    nodes.add(
        EmbeddedMysql.mariadb()
            .galeraState(STATE.formatted(nodes.size()))
            .setting("innodb_buffer_pool_size", "64M")
            .setting("binlog_format", "ROW")
            .setting("innodb_autoinc_lock_mode", "2")
            .setting("wsrep_on", "ON")
            .setting("wsrep_provider", library.toString())
            .setting("wsrep_cluster_address", "gcomm://" + others)
            .setting("wsrep_node_address", "127.0.0.1")
            .setting("wsrep_sst_method", "skip")
            .setting(
                "wsrep_provider_options", "gmcast.listen_addr=tcp://127.0.0.1:%s".formatted(port))
            .start());
  }

  private static Path library() {
    String named = Machine.setting(PROPERTY);
    if (named != null) {
      return Path.of(named);
    }
    return Stream.of(Path.of("/").resolve(LIBRARY), Path.of("/usr/lib64/galera-4/libgalera_smm.so"))
        .filter(Files::exists)
        .findFirst()
        .orElseGet(() -> DebianPackages.unpacked(List.of("galera-4")).resolve(LIBRARY));
  }

  /** Those that run. */
  public List<EmbeddedMysql> nodes() {
    return List.copyOf(nodes);
  }

  /** As {@code embedded MariaDB 11.4.5-MariaDB, 3 nodes of Galera}. */
  @Override
  public String toString() {
    return "%s, %s nodes of Galera".formatted(nodes.get(0), nodes.size());
  }
}
