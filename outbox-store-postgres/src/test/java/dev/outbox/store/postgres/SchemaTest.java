package dev.outbox.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.SchemaException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The schema")
class SchemaTest extends DatabaseTest {
  private static final Path PLAIN_DDL =
      Path.of("src/main/resources/dev/outbox/store/postgres/schema-1.sql");

  @Test
  @DisplayName("migrating twice is migrating once")
  void twice() {
    store.migrate();
    store.migrate();
    assertThatCode(store::verify).doesNotThrowAnyException();
  }

  @Test
  @DisplayName("two outboxes with different prefixes live in one schema, and apart")
  void twoPrefixes() {
    PostgresOutboxStore other =
        PostgresOutboxStore.builder(database.pool).prefix("billing_").build();
    store.migrate();
    other.migrate();
    store.migrate();
    database.inTransaction(false, c -> other.append(c, message()));
    assertThat(store.claim(request()).messages()).as("in the first").isEmpty();
    assertThat(other.claim(request()).messages()).as("in the second").hasSize(1);
  }

  @Test
  @DisplayName("a schema can be chosen, whatever the search path is")
  void chosenSchema() {
    String name = "chosen_" + UUID.randomUUID().toString().substring(0, 8);
    database.execute("create schema " + name);
    try {
      PostgresOutboxStore chosen =
          PostgresOutboxStore.builder(database.pool).schema(name).prefix("x_").build();
      chosen.migrate();
      chosen.verify();
      database.inTransaction(false, c -> chosen.append(c, message()));
      assertThat(chosen.claim(request()).messages()).hasSize(1);
      assertThat(
              database.query(
                  "select count(*) from information_schema.tables where table_schema = '%s' and table_name like 'x\\_%%'"
                      .formatted(name)))
          .as("tables, Liquibase's two among them")
          .isEqualTo("7");
    } finally {
      database.execute("drop schema " + name + " cascade");
    }
  }

  @Test
  @DisplayName("the plain DDL file is what the changelog says")
  void plainFile() throws IOException {
    assertThat(store.ddl())
        .as("%s; when the changelog has changed, write ddl() there", PLAIN_DDL)
        .isEqualTo(Files.readString(PLAIN_DDL));
  }

  @Test
  @DisplayName("the plain DDL, run by hand, makes the same tables as Liquibase")
  void sameCatalog() {
    store.migrate();
    try (Database byHand = new Database(server)) {
      byHand.execute(PostgresOutboxStore.of(byHand.pool).ddl());
      PostgresOutboxStore.of(byHand.pool).verify();
      PostgresOutboxStore.of(byHand.pool).migrate(); // is there already
      assertThat(catalog(byHand)).isEqualTo(catalog(database)).contains("message_pk");
    }
  }

  private static String catalog(Database database) {
    return database
        .query(
            """
            select string_agg(line, chr(10) order by line) from (
              select format('column %%s.%%s %%s %%s %%s %%s', c.relname, a.attnum, a.attname,
                format_type(a.atttypid, a.atttypmod), a.attnotnull, pg_get_expr(d.adbin, d.adrelid)) as line
              from pg_attribute a join pg_class c on c.oid = a.attrelid
              left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
              where c.relnamespace = '%1$s'::regnamespace and a.attnum > 0 and c.relkind = 'r'
                and c.relname not like '%%databasechangelog%%'
              union all
              select format('constraint %%s %%s %%s', c.relname, o.conname, pg_get_constraintdef(o.oid))
              from pg_constraint o join pg_class c on c.oid = o.conrelid
              where c.relnamespace = '%1$s'::regnamespace and c.relname not like '%%databasechangelog%%'
              union all
              select pg_get_indexdef(i.indexrelid)
              from pg_index i join pg_class c on c.oid = i.indrelid
              where c.relnamespace = '%1$s'::regnamespace and c.relname not like '%%databasechangelog%%'
              union all
              select format('options %%s %%s', c.relname, c.reloptions) from pg_class c
              where c.relnamespace = '%1$s'::regnamespace and c.relkind = 'r' and c.relname not like '%%databasechangelog%%'
            ) x
            """
                .formatted(database.schema()))
        .replace(database.schema(), "SCHEMA");
  }

  @Test
  @DisplayName("the transaction id is drawn before the sequence: its column stands before")
  void txidBeforeSeq() {
    store.migrate();
    assertThat(
            database.query(
                "select (select attnum from pg_attribute where attrelid = 'outbox_message'::regclass and attname = 'txid')"
                    + " < (select attnum from pg_attribute where attrelid = 'outbox_message'::regclass and attname = 'seq')"))
        .isEqualTo("t");
  }

  @Test
  @DisplayName("that is missing is said in one sentence, on claim, on append, on verify")
  void missing() {
    assertThatThrownBy(store::verify)
        .isInstanceOf(SchemaException.class)
        .hasMessage(
            "there is no table outbox_schema: migrate the database first (./outbox migrate, or migrate() of the store)");
    assertThatThrownBy(() -> store.claim(request()))
        .isInstanceOf(SchemaException.class)
        .hasMessageStartingWith("there is no table outbox_schema");
    assertThatThrownBy(() -> database.inTransaction(false, c -> store.append(c, message())))
        .isInstanceOf(SchemaException.class)
        .hasMessageContaining("outbox_message");
  }

  @Test
  @DisplayName("that is older, newer or without its version is said in one sentence")
  void otherVersion() {
    store.migrate();
    database.execute("update outbox_schema set version = 2");
    assertThatThrownBy(store::verify)
        .isInstanceOf(SchemaException.class)
        .hasMessage(
            "the schema of outbox_schema has version 2, this library knows only 1: use a newer release of the library");
    database.execute("update outbox_schema set version = -1");
    assertThatThrownBy(store::verify)
        .isInstanceOf(SchemaException.class)
        .hasMessageContaining("has version -1, this library needs 1: migrate the database");
    database.execute("delete from outbox_schema");
    assertThatThrownBy(store::verify)
        .isInstanceOf(SchemaException.class)
        .hasMessageStartingWith("table outbox_schema is empty");
  }

  @Test
  @DisplayName("without bucket rows, as after a test cleaner, is repaired by the next claim")
  void emptiedBuckets() {
    store.migrate();
    database.inTransaction(false, c -> store.append(c, message()));
    database.execute("delete from outbox_bucket");
    assertThat(store.claim(request()).messages()).as("claimed after the repair").hasSize(1);
  }

  @Test
  @DisplayName("names that are more than names are refused when the store is built")
  void names() {
    assertThatThrownBy(() -> PostgresOutboxStore.builder(database.pool).prefix("x; drop").build())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "prefix 'x; drop' is not a plain name: use 1 to 30 lower-case letters, digits and underscores, not beginning with a digit");
    assertThatThrownBy(() -> PostgresOutboxStore.builder(database.pool).schema("Mine").build())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("schema 'Mine' is not a plain name");
  }
}
