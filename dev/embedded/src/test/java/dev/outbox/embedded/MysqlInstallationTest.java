package dev.outbox.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@DisabledOnOs(value = OS.WINDOWS, disabledReason = "the server named is a shell script")
class MysqlInstallationTest {
  @TempDir Path directory;

  @AfterEach
  void restore() {
    System.clearProperty("outbox.mysqld");
    System.clearProperty("outbox.mariadbd");
    System.clearProperty("outbox.test.mariadb.version");
  }

  private Path program(String name, String script) throws IOException {
    Path program = directory.resolve(name);
    Files.writeString(program, "#!/bin/sh\n" + script + "\n");
    return Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  private MysqlInstallation find(MysqlKind kind, String script) throws IOException {
    Path program = program("server", script);
    System.setProperty("outbox." + kind.program, program.toString());
    return MysqlInstallation.find(kind);
  }

  private static String says(String version) {
    return "echo '/usr/sbin/mysqld  Ver " + version + " for Linux on x86_64 ((Ubuntu))'";
  }

  @Test
  @DisplayName("the one named is taken when it is new enough")
  void named() throws Exception {
    for (String version : new String[] {"8.0.17", "8.0.36-0ubuntu0.22.04.1", "8.4.3", "9.5.0"}) {
      MysqlInstallation server = find(MysqlKind.MYSQL, says(version));
      assertThat(server.version()).isEqualTo(version);
      assertThat(server.home()).isEmpty();
    }
    for (String version :
        new String[] {"10.6.5-MariaDB", "10.11.6-MariaDB-0+deb12u1", "12.0.2-MariaDB"}) {
      assertThat(find(MysqlKind.MARIADB, says(version)).version()).isEqualTo(version);
    }
  }

  @Test
  @DisplayName("the one named is refused when it is too old, or the other server")
  void refused() {
    for (String version : new String[] {"5.7.44", "8.0.16", "11.4.5-MariaDB"}) {
      assertThatThrownBy(() -> find(MysqlKind.MYSQL, says(version)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage(
              "outbox.mysqld is %s, version %s: it must be MySQL 8.0.17 or newer"
                  .formatted(directory.resolve("server"), version));
    }
    for (String version : new String[] {"8.4.3", "10.5.22-MariaDB"}) {
      assertThatThrownBy(() -> find(MysqlKind.MARIADB, says(version)))
          .hasMessageContaining("it must be MariaDB 10.6 or newer");
    }
  }

  @Test
  @DisplayName("the one named that does not run is an error with what it said")
  void broken() {
    assertThatThrownBy(() -> find(MysqlKind.MYSQL, "echo 'no disk' >&2; exit 3"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("code 3")
        .hasMessageContaining("no disk");
    assertThatThrownBy(() -> find(MysqlKind.MYSQL, "echo hello"))
        .hasMessageContaining("does not say its version but: hello");
  }

  @Test
  @DisplayName(
      "of those that are installed the first that will do is taken, and others are passed by")
  void installed() throws Exception {
    Path mariadb = program("mariadbd", says("10.11.19-MariaDB-0+deb12u1"));
    Path link = Files.createSymbolicLink(directory.resolve("mysqld"), mariadb);
    Path old = program("old", says("5.7.44"));
    Path broken = program("broken", "exit 3");
    assertThat(MysqlInstallation.installed(MysqlKind.MYSQL, Stream.of(link, old, broken)))
        .isEmpty();
    for (String version : new String[] {"8.0.44", "8.4.7", "9.5.0"}) {
      Path mysql = program("mysql-" + version, says(version));
      assertThat(MysqlInstallation.installed(MysqlKind.MYSQL, Stream.of(link, old, broken, mysql)))
          .map(MysqlInstallation::program)
          .hasValue(mysql);
    }
    assertThat(MysqlInstallation.installed(MysqlKind.MARIADB, Stream.of(old, mariadb)))
        .map(MysqlInstallation::program)
        .hasValue(mariadb);
  }

  @Test
  @DisplayName("a version that nobody offers is refused, with those that are")
  void unknownVersion() {
    System.setProperty("outbox.test.mariadb.version", "10.4");
    assertThatThrownBy(() -> MysqlInstallation.find(MysqlKind.MARIADB))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("outbox.test.mariadb.version is 10.4: it must be 11.4, 10.11 or installed");
  }
}
