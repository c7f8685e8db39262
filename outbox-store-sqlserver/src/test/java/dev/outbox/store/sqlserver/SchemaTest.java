package dev.outbox.store.sqlserver;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.sqlserver.jdbc.SQLServerDataSource;
import dev.outbox.Archive;
import dev.outbox.store.core.internal.PrefixedNames;
import dev.outbox.store.jdbc.JdbcOutboxStore.PlainBuilder;
import dev.outbox.store.jdbc.SchemaTests;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.logging.Level;
import java.util.logging.Logger;
import liquibase.Contexts;
import liquibase.Liquibase;
import liquibase.Scope;
import liquibase.database.DatabaseFactory;
import liquibase.resource.ClassLoaderResourceAccessor;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("The schema")
class SchemaTest {
  @Test
  @DisplayName("as Liquibase would make it is what ddl() prints, of the outbox and of the inbox")
  void liquibase(@TempDir Path directory) throws Exception {
    SQLServerDataSource nobody = new SQLServerDataSource();
    PrefixedNames names = new PrefixedNames("shop", "billing_");
    String outbox =
        SqlServerOutboxStore.builder(nobody).schema("shop").prefix("billing_").build().ddl();
    assertThat(offline("changelog.sql", names, directory))
        .isEqualTo(statements(outbox))
        .hasSize(17);
    String inbox =
        SqlServerInboxStore.builder(nobody).schema("shop").prefix("billing_").build().ddl();
    assertThat(offline("inbox-changelog.sql", names, directory))
        .isEqualTo(statements(inbox))
        .hasSize(7);
  }

  @Test
  @DisplayName("of the archive as Liquibase would make it comes behind the outbox's in ddl()")
  void liquibaseOfArchive(@TempDir Path directory) throws Exception {
    PlainBuilder<SqlServerOutboxStore> outbox =
        SqlServerOutboxStore.builder(new SQLServerDataSource()).schema("shop").prefix("billing_");
    int before = statements(outbox.build().ddl()).size();
    List<String> both = statements(outbox.archive(Archive.FULL).build().ddl());
    assertThat(
            offline(
                "archive-changelog.sql", new PrefixedNames("shop", "billing_archive_"), directory))
        .isEqualTo(both.subList(before, both.size()))
        .hasSize(6);
  }

  @Test
  @DisplayName("of release 0.1.0 is how each changelog begins: what a database has is not changed")
  void fromRelease(@TempDir Path directory) throws Exception {
    SqlServerOutboxStore outbox = SqlServerOutboxStore.of(new SQLServerDataSource());
    SqlServerInboxStore inbox = SqlServerInboxStore.of(new SQLServerDataSource());
    assertThat(offline("changelog.sql", new PrefixedNames(null, "outbox_"), directory))
        .startsWith(released("outbox", outbox));
    assertThat(
            offline("archive-changelog.sql", new PrefixedNames(null, "outbox_archive_"), directory))
        .startsWith(released("archive", outbox));
    assertThat(offline("inbox-changelog.sql", new PrefixedNames(null, "inbox_"), directory))
        .startsWith(released("inbox", inbox));
  }

  private static String[] released(String part, Object store) {
    return statements(SchemaTests.released(part, store)).toArray(String[]::new);
  }

  /** What Liquibase would send to a server. */
  private static List<String> offline(String changelog, PrefixedNames names, Path directory)
      throws Exception {
    Logger.getLogger("liquibase").setLevel(Level.WARNING); // it says more than our tests need
    StringWriter out = new StringWriter();
    Scope.child(
        Map.of(),
        () -> {
          Liquibase liquibase =
              new Liquibase(
                  "dev/outbox/store/sqlserver/" + changelog,
                  new ClassLoaderResourceAccessor(SchemaTest.class.getClassLoader()),
                  DatabaseFactory.getInstance()
                      .openDatabase(
                          "offline:mssql?changeLogFile=" + directory.resolve("log.csv"),
                          null,
                          null,
                          null,
                          new ClassLoaderResourceAccessor()));
          liquibase.setChangeLogParameter("q", names.qualifier());
          liquibase.setChangeLogParameter("p", names.prefix());
          liquibase.update(new Contexts(), out);
        });
    return statements(out.toString()).stream()
        .filter(sql -> !sql.matches("(?s).*DATABASECHANGELOG.*|USE .*"))
        .toList();
  }

  /** Without comments, and with a space for all white space. */
  private static List<String> statements(String script) {
    List<String> statements = new ArrayList<>();
    for (String statement : script.replaceAll("(?m)^\\s*--.*$", "").split(";|(?m)^GO$")) {
      String line = statement.strip().replaceAll("\\s+", " ");
      if (!line.isEmpty()) {
        statements.add(line);
      }
    }
    return statements;
  }

  @Test
  @DisplayName("grants name the roles and the tables")
  void grants() {
    assertThat(
            SqlServerOutboxStore.builder(new SQLServerDataSource())
                .schema("shop")
                .build()
                .grants("web", "relay"))
        .contains("grant insert on shop.outbox_message to web;")
        .contains("grant select, insert, update on shop.outbox_bucket to relay;")
        .doesNotContain("$");
    assertThat(
            SqlServerInboxStore.builder(new SQLServerDataSource())
                .schema("shop")
                .build()
                .grants("billing", "keeper"))
        .contains("grant select, insert, update on shop.inbox_message to billing;")
        .contains("grant select, delete on shop.inbox_message to keeper;")
        .doesNotContain("$");
  }
}
