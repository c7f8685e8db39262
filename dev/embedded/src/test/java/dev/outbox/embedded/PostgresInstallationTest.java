package dev.outbox.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@DisabledOnOs(value = OS.WINDOWS, disabledReason = "the programs named are shell scripts")
class PostgresInstallationTest {
  @TempDir Path directory;
  private final @Nullable String before = System.getProperty(PostgresInstallation.PROPERTY);

  @AfterEach
  void restore() {
    if (before == null) {
      System.clearProperty(PostgresInstallation.PROPERTY);
    } else {
      System.setProperty(PostgresInstallation.PROPERTY, before);
    }
  }

  private Path programs(String folder, String version) throws IOException {
    Path bin = Files.createDirectories(directory.resolve(folder).resolve("bin"));
    for (String name : new String[] {"postgres", "initdb"}) {
      Path program = bin.resolve(name);
      Files.writeString(program, "#!/bin/sh\necho '" + name + " (PostgreSQL) " + version + "'\n");
      Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
    }
    return bin;
  }

  private static PostgresInstallation find(String asked) throws IOException {
    System.setProperty(PostgresInstallation.PROPERTY, asked);
    return PostgresInstallation.find(Machine.setting(PostgresInstallation.PROPERTY));
  }

  @Test
  @DisplayName("of several installed the newest is taken, by number")
  void newest() throws Exception {
    programs("9", "9.6.24");
    programs("14", "14.20 (Debian 14.20-1)");
    Path bin = programs("100", "100beta1");
    Files.createDirectories(directory.resolve("101/bin"));
    Files.createDirectories(directory.resolve("lib"));
    assertThat(PostgresInstallation.installed(directory))
        .isEqualTo(new PostgresInstallation("100", bin, true));
  }

  @Test
  @DisplayName("where none is installed, the error says what to do")
  void noneInstalled() throws Exception {
    assumeThat(Machine.program("postgres")).isEmpty();
    programs("13", "13.9");
    assertThatThrownBy(() -> PostgresInstallation.installed(directory))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageStartingWith(
            "outbox.test.postgres.version is installed, and there is no PostgreSQL 14 or newer in "
                + directory)
        .hasMessageContaining("apt-get install postgresql");
  }

  @Test
  @DisplayName("a folder with programs is taken, unless they are too old")
  void named() throws Exception {
    Path bin = programs("x", "14.1");
    assertThat(find(bin.toString())).isEqualTo(new PostgresInstallation("14.1", bin, true));
    Path old = programs("y", "13.22");
    assertThatThrownBy(() -> find(old.toString()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "outbox.test.postgres.version is %s, which has version 13.22: it must be 14 or newer"
                .formatted(old));
    assertThatThrownBy(() -> find(directory.toString()))
        .hasMessageContaining("has no programs postgres and initdb");
  }

  @Test
  @DisplayName("a version that nobody offers is refused, with those that are")
  void unknown() {
    assertThatThrownBy(() -> find("13"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "outbox.test.postgres.version is 13: it must be 18, 17, 16, 15, 14, installed or the"
                + " folder with the programs of a PostgreSQL");
  }

  @Test
  @DisplayName("an older one is fetched and started, and is durable")
  void older() throws Exception {
    assumeThat(Machine.isLinuxX64()).as("Linux on x86-64").isTrue();
    System.setProperty(PostgresInstallation.PROPERTY, "14");
    try (EmbeddedPostgres postgres = EmbeddedPostgres.start()) {
      assertThat(Sql.query(postgres, "show server_version").get(0)).startsWith("14.");
      assertThat(Sql.query(postgres, "show fsync")).containsExactly("on");
      assertThat(postgres).asString().startsWith("embedded PostgreSQL 14.");
    }
  }

  @Test
  @DisplayName("an installed one keeps its own settings, and is durable")
  void installed() throws Exception {
    assumeThat(Path.of("/usr/lib/postgresql"))
        .as("an installed PostgreSQL: apt-get install postgresql")
        .exists();
    System.setProperty(PostgresInstallation.PROPERTY, "installed");
    try (EmbeddedPostgres postgres = EmbeddedPostgres.start()) {
      assertThat(Sql.query(postgres, "show max_connections")).containsExactly("100");
      assertThat(Sql.query(postgres, "show fsync")).containsExactly("on");
      assertThat(
              Sql.query(postgres, "select setting = boot_val from pg_settings where name = 'jit'"))
          .containsExactly("t");
      assertThat(postgres).asString().endsWith("as installed");
    }
  }
}
