package dev.outbox.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.io.DefaultResourceLoader;

class LiquibaseWithoutChangelogTest {
  private static final String[] CANDIDATES = {
    "org.springframework.boot.autoconfigure.liquibase.LiquibaseAutoConfiguration",
    null,
    "org.springframework.boot.liquibase.autoconfigure.LiquibaseAutoConfiguration",
    "org.springframework.boot.autoconfigure.flyway.FlywayAutoConfiguration",
  };

  private final StandardEnvironment environment = new StandardEnvironment();
  private final LiquibaseWithoutChangelog filter = new LiquibaseWithoutChangelog();

  private boolean[] match() {
    filter.setEnvironment(environment);
    return filter.match(CANDIDATES, null);
  }

  @Test
  void boots() {
    assertThat(match()).containsExactly(false, true, false, true);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "spring.liquibase.change-log",
        "spring.liquibase.changeLog",
        "spring.liquibase.enabled"
      })
  void isKeptWhereAPropertyAsksForIt(String property) {
    environment
        .getPropertySources()
        .addFirst(new MapPropertySource("test", Map.of(property, "true")));
    assertThat(match()).containsOnly(true);
  }

  @Test
  void isKeptWhereTheDefaultChangelogIs(@TempDir Path classes) throws Exception {
    Path changelog = classes.resolve("db/changelog/db.changelog-master.yaml");
    Files.createDirectories(changelog.getParent());
    Files.writeString(changelog, "databaseChangeLog: []");
    try (URLClassLoader loader =
        new URLClassLoader(new URL[] {classes.toUri().toURL()}, getClass().getClassLoader())) {
      filter.setResourceLoader(new DefaultResourceLoader(loader));
      assertThat(match()).containsOnly(true);
    }
  }
}
