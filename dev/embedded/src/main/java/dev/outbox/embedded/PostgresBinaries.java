package dev.outbox.embedded;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A PostgreSQL that can be started, and an initialised data directory to copy, which is made once.
 *
 * @param installation its programs
 * @param template an initialised data directory
 * @param password of the user {@code postgres} in it
 */
record PostgresBinaries(PostgresInstallation installation, Path template, String password) {

  /** Without the password. */
  @Override
  public String toString() {
    return template.toString();
  }

  private static final int NOBODY = 65_534;

  /**
   * Downloads, unpacks and initialises what is not there yet.
   *
   * @param version as {@link PostgresInstallation#find} takes it
   */
  static PostgresBinaries get(@Nullable String version) {
    try {
      PostgresInstallation server = PostgresInstallation.find(version);
      String name =
          "postgresql-%s%s-data"
              .formatted(server.version(), server.isInstalled() ? "-" + Machine.INSTALLED : "");
      Path template = Cache.get(name, path -> initialise(server, path));
      return new PostgresBinaries(server, template.resolve("data"), Password.kept(template));
    } catch (IOException e) {
      throw new UncheckedIOException("PostgreSQL could not be prepared: " + e.getMessage(), e);
    }
  }

  /** PostgreSQL refuses to run as root: what to put before a command so that it does not. */
  static List<String> asOrdinaryUser() {
    if (!Machine.isRoot()) {
      return List.of();
    }
    if (Machine.program("setpriv").isEmpty()) {
      throw new UnsupportedOperationException(
          "PostgreSQL does not run as root, and the program setpriv (of util-linux), which would"
              + " run it as another user, is not there: install it, or run this as an ordinary"
              + " user");
    }
    return List.of("setpriv", "--reuid=" + NOBODY, "--regid=" + NOBODY, "--clear-groups", "--");
  }

  /** Gives it to that other user. */
  static void own(Path path) throws IOException {
    if (Machine.isRoot()) {
      Files.setAttribute(path, "unix:uid", NOBODY);
      Files.setAttribute(path, "unix:gid", NOBODY);
    }
  }

  private static void initialise(PostgresInstallation server, Path to) throws IOException {
    String password = Password.random();
    Path data = Files.createDirectory(to.resolve("data"));
    Path secret = Password.write(to.resolve("password.tmp"), password);
    own(data);
    own(secret);
    List<String> command = new ArrayList<>(asOrdinaryUser());
    command.add(server.program("initdb").toString());
    command.addAll(List.of("-D", data.toString(), "-U", "postgres", "--pwfile=" + secret));
    command.addAll(List.of("-A", "scram-sha-256", "-E", "UTF8", "--locale=C", "--no-sync"));
    Program.run(command);
    Files.delete(secret);
    Password.keep(password, to);
  }
}
