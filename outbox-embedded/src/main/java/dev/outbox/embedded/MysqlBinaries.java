package dev.outbox.embedded;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A MySQL or MariaDB that can be started, and an initialised data directory to copy.
 *
 * @param command the server with the options that it always needs
 * @param template an initialised data directory with the database {@code outbox}
 * @param password of the user {@code root} in it
 */
record MysqlBinaries(List<String> command, Path template, String password) {

  /** Downloads, unpacks and initialises what is not there yet. */
  static MysqlBinaries get(MysqlKind kind) {
    try {
      MysqlInstallation server = MysqlInstallation.find(kind);
      List<String> command = new ArrayList<>();
      command.addAll(List.of(server.program().toString(), "--no-defaults"));
      server.home().ifPresent(home -> command.add("--basedir=" + home));
      if (Machine.isRoot()) {
        command.add("--user=root");
      }
      String version = server.version().replaceAll("[^A-Za-z0-9.-]", "_");
      Path template =
          Cache.get(kind.label + "-" + version + "-data", path -> initialise(kind, command, path));
      return new MysqlBinaries(
          List.copyOf(command), template.resolve("data"), Password.kept(template));
    } catch (IOException e) {
      throw new UncheckedIOException(kind.label + " could not be prepared: " + e.getMessage(), e);
    }
  }

  private static void initialise(MysqlKind kind, List<String> server, Path to) throws IOException {
    String password = Password.random();
    Path sql =
        Password.write(
            to.resolve("init.sql"),
            """
            create user root@'127.0.0.1' identified by '%s';
            grant all on *.* to root@'127.0.0.1' with grant option;
            drop user root@localhost;
            create database outbox;
            """
                .formatted(password));
    List<String> command = new ArrayList<>(server);
    command.addAll(List.of("--initialize-insecure", "--datadir=" + to.resolve("data")));
    command.addAll(List.of("--init-file=" + sql, "--loose-innodb-redo-log-capacity=16M"));
    Program.run(command);
    Files.delete(sql);
    Password.keep(password, to);
  }
}
