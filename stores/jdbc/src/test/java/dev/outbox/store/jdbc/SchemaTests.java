package dev.outbox.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Archive;
import dev.outbox.PermanentOutboxException;
import dev.outbox.SchemaException;
import dev.outbox.inbox.InboxKey;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What holds for the schema of every relational store. */
public abstract class SchemaTests extends DatabaseTests {
  protected SchemaTests(TestedStore tested) {
    super(tested);
  }

  @Override
  protected boolean hasTables() {
    return false;
  }

  @Test
  @DisplayName("several processes may migrate an empty database at once")
  void severalAtOnce() {
    Set<String> made = new HashSet<>();
    DataSource late =
        Intercepted.rewriting(
            database.pool,
            sql -> {
              // Another process makes each of Liquibase's own tables just before this one does.
              if (sql.matches("(?is)create table .*databasechangelog.*") && made.add(sql)) {
                database.execute(sql);
              }
              return sql;
            });
    builder(late).build().migrate();
    assertThat(made).as("what another process made").hasSize(2);
    assertThatCode(store::verify).doesNotThrowAnyException();
  }

  @Test
  @DisplayName("that was interrupted anywhere is not there yet, and migrate() goes on with it")
  void interrupted() {
    JdbcInboxStore inbox = tested().inbox(database.pool).build();
    for (String last :
        List.of(
            "create table .*\\boutbox_blocked_key",
            "insert .*into outbox_bucket",
            "create table .*\\boutbox_pause",
            "create table .*\\boutbox_schema",
            "insert .*into outbox_schema")) {
      assertThatThrownBy(builder(endingAt(last)).build()::migrate)
          .as(last)
          .isInstanceOf(PermanentOutboxException.class);
      assertThatThrownBy(store::verify).as(last).isInstanceOf(SchemaException.class);
    }
    assertThatThrownBy(tested().inbox(endingAt("insert .*into inbox_schema")).build()::migrate)
        .isInstanceOf(PermanentOutboxException.class);
    assertThatThrownBy(inbox::verify).isInstanceOf(SchemaException.class);
    store.migrate();
    inbox.migrate();
    store.verify();
    inbox.verify();
    assertThat(database.query("select count(*) from outbox_bucket")).isEqualTo("64");
    try (TestDatabase fresh = tested().database(config -> {})) {
      builder(fresh.pool).build().migrate();
      tested().inbox(fresh.pool).build().migrate();
      assertThat(catalog(database)).isEqualTo(catalog(fresh)).contains("outbox_pause");
    }
  }

  /** The pool, of which each statement like this fails. */
  private DataSource endingAt(String statement) {
    return Intercepted.rewriting(
        database.pool,
        sql ->
            Pattern.compile(statement).matcher(sql).find()
                ? "a migration that is interrupted"
                : sql);
  }

  /**
   * A database that speaks this one's protocol.
   *
   * @param said what a part of our statements is in its place, so that the server says what it says
   * @param reason what it is refused for
   */
  public record Pretence(String name, Map<String, String> said, String reason) {
    private DataSource over(DataSource server, UnaryOperator<String> taken) {
      return Intercepted.rewriting(
          server,
          sql -> {
            String changed = taken.apply(sql);
            for (Map.Entry<String, String> one : said.entrySet()) {
              changed = changed.replace(one.getKey(), one.getValue());
            }
            return changed;
          });
    }
  }

  protected abstract List<Pretence> pretences();

  @Test
  @DisplayName("a distributed database is refused by its name, whatever else it does not take")
  void distributed() {
    store.migrate();
    for (Pretence pretence : pretences()) {
      List<UnaryOperator<String>> takers =
          List.of(UnaryOperator.identity(), sql -> sql.replaceFirst("^set ", "set nonsense "));
      for (UnaryOperator<String> taken : takers) {
        JdbcOutboxStore there = builder(pretence.over(database.pool, taken)).build();
        assertRefused(pretence, there::verify);
        assertRefused(pretence, there::migrate);
      }
      DataSource here = pretence.over(database.pool, UnaryOperator.identity());
      JdbcOutboxStore there = builder(here).build();
      assertRefused(
          pretence,
          () -> {
            try (Connection connection = here.getConnection()) {
              connection.setAutoCommit(false);
              there.append(connection, message());
            }
          });
    }
    assertThat(store.claim(request()).messages()).isEmpty();
  }

  @Test
  @DisplayName("a distributed database is refused before a table is made there")
  void distributedAndEmpty() {
    for (Pretence pretence : pretences()) {
      DataSource there = pretence.over(database.pool, UnaryOperator.identity());
      assertRefused(pretence, builder(there).build()::migrate);
    }
    assertThat(
            database.query(
                "select count(*) from information_schema.tables where table_schema = '%s'"
                    .formatted(database.schema())))
        .isEqualTo("0");
  }

  private static void assertRefused(Pretence pretence, ThrowingCallable use) {
    assertThatThrownBy(use)
        .as(pretence.name())
        .isInstanceOf(PermanentOutboxException.class)
        .hasMessageContaining("the server is " + pretence.name() + " and not ")
        .hasMessageContaining(pretence.reason());
  }

  @Test
  @DisplayName("where no schema is chosen, the one that the connection found is told")
  void place() {
    store.migrate();
    assertThat(store.place()).containsPattern("\\b" + database.schema() + "\\b");
  }

  @Test
  @DisplayName("two outboxes with different prefixes live in one schema, and apart")
  void twoPrefixes() {
    JdbcOutboxStore other = builder(database.pool).prefix("billing_").build();
    store.migrate();
    other.migrate();
    store.migrate();
    database.inTransaction(false, c -> other.append(c, message()));
    assertThat(store.claim(request()).messages()).as("in the first").isEmpty();
    assertThat(other.claim(request()).messages()).as("in the second").hasSize(1);
  }

  @Test
  @DisplayName("a schema can be chosen, whatever the connection's is")
  void chosenSchema() {
    String name = "chosen_" + UUID.randomUUID().toString().substring(0, 8);
    database.execute("create schema " + name);
    try {
      JdbcOutboxStore chosen = builder(database.pool).schema(name).prefix("x_").build();
      chosen.migrate();
      chosen.verify();
      assertThat(chosen.place()).as("where the tables are").containsPattern("\\b" + name + "\\b");
      database.inTransaction(false, c -> chosen.append(c, message()));
      assertThat(chosen.claim(request()).messages()).hasSize(1);
      assertThat(
              database.query(
                  "select count(*) from information_schema.tables where table_schema = '%s' and table_name like 'x|_%%' escape '|'"
                      .formatted(name)))
          .as("tables, Liquibase's two among them")
          .isEqualTo("8");
    } finally {
      dropSchema(name);
    }
  }

  /** Drops a schema with all that is in it. */
  protected abstract void dropSchema(String name);

  @Test
  @DisplayName("the plain DDL, run by hand, makes the same tables as Liquibase")
  void sameCatalog() {
    store.migrate();
    try (TestDatabase byHand = tested().database(config -> {})) {
      JdbcOutboxStore other = builder(byHand.pool).build();
      runByHand(byHand, other.ddl());
      other.verify();
      other.migrate(); // is there already
      assertThat(catalog(byHand)).isEqualTo(catalog(database)).contains("message_payload_size");
    }
  }

  @Test
  @DisplayName("an inbox lives beside an outbox, each made by itself, and without it")
  void inboxBeside() {
    JdbcInboxStore inbox = tested().inbox(database.pool).build();
    inbox.migrate();
    inbox.verify();
    assertThatThrownBy(store::verify)
        .isInstanceOf(SchemaException.class)
        .hasMessageStartingWith("there is no table outbox_schema");
    store.migrate();
    inbox.migrate();
    InboxKey key = new InboxKey("shipping", "1");
    database.inTransaction(
        false,
        c -> {
          assertThat(inbox.firstTime(c, key)).isTrue();
          store.append(c, message());
        });
    database.inTransaction(false, c -> assertThat(inbox.firstTime(c, key)).isFalse());
    assertThat(store.claim(request()).messages()).hasSize(1);
    assertThat(inbox.place()).isEqualTo(store.place());
  }

  @Test
  @DisplayName("the plain DDL of an inbox, run by hand, makes the same tables as Liquibase")
  void sameCatalogOfInbox() {
    tested().inbox(database.pool).build().migrate();
    try (TestDatabase byHand = tested().database(config -> {})) {
      JdbcInboxStore other = tested().inbox(byHand.pool).build();
      runByHand(byHand, other.ddl());
      other.verify();
      other.migrate(); // is there already
      assertThat(catalog(byHand)).isEqualTo(catalog(database)).contains("message_result_size");
    }
  }

  @Test
  @DisplayName("of release 0.1.0 is migrated, with a message and a handled one in it")
  void fromRelease() {
    JdbcInboxStore inbox = tested().inbox(database.pool).build();
    JdbcOutboxStore archiving = builder(database.pool).archive(Archive.FULL).build();
    runByHand(database, released("outbox", archiving));
    runByHand(database, released("archive", archiving));
    runByHand(database, released("inbox", inbox));
    database.execute(
        "insert into outbox_message (aggregate_type, aggregate_id, event_type, payload) values"
            + " ('order', '1', 'OrderPlaced', '{}')");
    database.execute(
        "insert into inbox_message (consumer, message_id, state, attempts, expires_at) values"
            + " ('shipping', '1', 'DONE', 1, '2037-01-01')");
    archiving.migrate();
    inbox.migrate();
    archiving.verify();
    inbox.verify();
    assertThat(archiving.claim(request()).messages()).hasSize(1);
    InboxKey key = new InboxKey("shipping", "1");
    database.inTransaction(false, c -> assertThat(inbox.firstTime(c, key)).isFalse());
    try (TestDatabase fresh = tested().database(config -> {})) {
      builder(fresh.pool).archive(Archive.FULL).build().migrate();
      tested().inbox(fresh.pool).build().migrate();
      String counted = " AUTO_INCREMENT=\\d+";
      assertThat(catalog(database).replaceAll(counted, "")).isEqualTo(catalog(fresh));
    }
  }

  /**
   * The statements of release 0.1.0: those of docs/sql until it is out, a copy from then on.
   *
   * @param part outbox, inbox or archive
   */
  public static String released(String part, Object store) {
    String database = store.getClass().getSimpleName().replaceAll("(Outbox|Inbox)Store", "");
    Path file =
        Path.of("..", "docs", "sql", part + "-" + database.toLowerCase(Locale.ROOT) + ".sql");
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Runs the statements of a script. */
  protected abstract void runByHand(TestDatabase in, String ddl);

  /** What there is in the schema, without its name and Liquibase's tables. */
  protected abstract String catalog(TestDatabase of);

  @Test
  @DisplayName("names that are more than names are refused when the store is built")
  void names() {
    assertThatThrownBy(() -> builder(database.pool).prefix("x; drop").build())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "prefix 'x; drop' is not a plain name: use 1 to 30 lower-case letters, digits and"
                + " underscores, not beginning with a digit");
    assertThatThrownBy(() -> builder(database.pool).schema("Mine").build())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("schema 'Mine' is not a plain name");
  }
}
