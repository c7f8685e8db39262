package dev.outbox.embedded;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A MySQL or MariaDB that can be started, and an initialised data directory to copy.
 *
 * @param version all that the server says of its version
 * @param command the server with the options that it always needs
 * @param template an initialised data directory with the database {@code outbox}
 * @param password of the user {@code root} in it
 */
record MysqlBinaries(String version, List<String> command, Path template, String password) {

  /** Without the password. */
  @Override
  public String toString() {
    return template.toString();
  }

  /** Downloads, unpacks and initialises what is not there yet. */
  static MysqlBinaries get(MysqlKind kind) {
    try {
      MysqlInstallation server = MysqlInstallation.find(kind);
      List<String> options = new ArrayList<>(List.of("--no-defaults"));
      server.home().ifPresent(home -> options.add("--basedir=" + home));
      if (Machine.isRoot()) {
        options.add("--user=root");
      }
      String version = server.version().replaceAll("[^A-Za-z0-9.-]", "_");
      Path template =
          Cache.get(
              kind.label + "-" + version + "-data",
              path -> initialise(kind, server, options, path));
      return new MysqlBinaries(
          server.version(),
          command(server.program(), options),
          template.resolve("data"),
          Password.kept(template));
    } catch (IOException e) {
      throw new UncheckedIOException(kind.label + " could not be prepared: " + e.getMessage(), e);
    }
  }

  private static void initialise(
      MysqlKind kind, MysqlInstallation server, List<String> options, Path to) throws IOException {
    String password = Password.random();
    Path script = Password.write(to.resolve("init.sql"), script(kind, password));
    List<String> all = new ArrayList<>(options);
    all.add("--datadir=" + to.resolve("data"));
    all.add("--" + kind.logSize + "=16M");
    switch (kind) {
      case MYSQL ->
          Program.run(
              command(server.program(), all, "--initialize-insecure", "--init-file=" + script));
      case MARIADB -> {
        String accounts = "--auth-root-authentication-method=normal"; // the script replaces them
        String hasNoName = "--force"; // a machine whose name cannot be looked up is fine
        Program.run(command(mariadbInstallDb(server), all, accounts, hasNoName, "--skip-test-db"));
        Program.run(command(server.program(), all, "--bootstrap"), Optional.of(script));
      }
    }
    Files.delete(script);
    Password.keep(password, to);
  }

  /** One account: root, from this machine by TCP, with the password. */
  private static String script(MysqlKind kind, String password) {
    String without =
        switch (kind) {
          case MYSQL -> "drop user root@localhost;\n";
          case MARIADB ->
              """
              delete from mysql.global_priv where user <> 'mariadb.sys';
              delete from mysql.proxies_priv;
              flush privileges;
              """;
        };
    return without
        + """
        create user root@'127.0.0.1' identified by '%s';
        grant all on *.* to root@'127.0.0.1' with grant option;
        create database outbox;
        """
            .formatted(password);
  }

  private static Path mariadbInstallDb(MysqlInstallation server) {
    String name = "mariadb-install-db";
    return server
        .home()
        .map(home -> home.resolve("scripts").resolve(name))
        .filter(Files::exists)
        .or(() -> Machine.program(name))
        .orElseThrow(
            () ->
                new UnsupportedOperationException(
                    "%s is there, but not the program %s, which makes its data directory"
                        .formatted(server.program(), name)));
  }

  private static List<String> command(Path program, List<String> options, String... more) {
    List<String> command = new ArrayList<>(List.of(program.toString()));
    command.addAll(options);
    command.addAll(List.of(more));
    return List.copyOf(command);
  }
}
