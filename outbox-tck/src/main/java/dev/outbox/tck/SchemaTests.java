package dev.outbox.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.outbox.SchemaException;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spi.store.SchemaStore;
import java.util.List;
import org.junit.jupiter.api.Test;

/** E1. */
abstract class SchemaTests<T> extends StoreTests<T> {
  SchemaTests(OutboxStoreTck<T> tck) {
    super(tck);
  }

  private void damaged(Runnable damage, Runnable test) {
    SchemaFixture fixture = tck.fixture(SchemaFixture.class);
    try {
      damage.run();
      test.run();
    } finally {
      fixture.restoreSchema();
    }
    committed("k", 1);
    assertCame(drain()).as("due, after the schema was made whole again").hasSize(1);
  }

  /** A new store, and one that was there before, say one sentence for each verb. */
  private void assertSaid(String what) {
    assertSaid(what + ", by a new store's claim", () -> tck.createStore().claim(request(1, LONG)));
    assertSaid(
        what + ", by a new store's append",
        () -> {
          OutboxStore<T> store = tck.createStore();
          tck.inTransaction(t -> store.append(t, List.of(message("k").build())));
        });
    assertSaid(
        what + ", by a new store's verify",
        () -> {
          if (tck.createStore() instanceof SchemaStore schema) {
            schema.verify();
          } else {
            throw new SchemaException("the store has no verify");
          }
        });
  }

  private static void assertSaid(String what, Runnable action) {
    assertThat(catchThrowable(action::run))
        .as(what)
        .isInstanceOf(SchemaException.class)
        .satisfies(e -> assertThat(e.getMessage()).as(what).hasSizeBetween(20, 500));
  }

  @Test
  @Rule("E1")
  @Sentence("a missing schema is said in a sentence")
  void missing() {
    SchemaFixture fixture = tck.fixture(SchemaFixture.class);
    damaged(fixture::dropSchema, () -> assertSaid("a missing schema"));
  }

  @Test
  @Rule("E1")
  @Sentence("a schema that goes missing under a running store is said in a sentence")
  void goesMissing() {
    SchemaFixture fixture = tck.fixture(SchemaFixture.class);
    committed("k", 1);
    drain();
    damaged(
        fixture::dropSchema,
        () -> {
          assertSaid("a schema gone missing, by claim", () -> store().claim(request(1, LONG)));
          assertSaid(
              "a schema gone missing, by append",
              () -> tck.inTransaction(t -> store().append(t, List.of(message("k").build()))));
        });
  }

  @Test
  @Rule("E1")
  @Sentence("an older schema is said in a sentence")
  void older() {
    SchemaFixture fixture = tck.fixture(SchemaFixture.class);
    damaged(fixture::makeSchemaOlder, () -> assertSaid("an older schema"));
  }

  @Test
  @Rule("E1")
  @Sentence("a newer schema is said in a sentence")
  void newer() {
    SchemaFixture fixture = tck.fixture(SchemaFixture.class);
    damaged(fixture::makeSchemaNewer, () -> assertSaid("a newer schema"));
  }

  @Test
  @Rule("E1")
  @Sentence("emptied tables of the store's own rows are repaired, or said in a sentence")
  void emptied() {
    SchemaFixture fixture = tck.fixture(SchemaFixture.class);
    committed("k", 1);
    damaged(
        fixture::emptyInternalRows,
        () -> {
          Throwable thrown =
              catchThrowable(
                  () ->
                      assertThat(tck.createStore().claim(request(1, LONG)).messages())
                          .as("due with the store's own rows gone")
                          .isNotEmpty());
          if (thrown instanceof AssertionError error) {
            throw error;
          }
          assertThat(thrown)
              .as("claim with the store's own rows gone")
              .satisfiesAnyOf(
                  t -> assertThat(t).isNull(),
                  t -> assertThat(t).isInstanceOf(SchemaException.class));
          tck.reset();
        });
  }

  @Test
  @Rule("E1")
  @Sentence("migrate of a schema that is there changes nothing; verify finds it whole")
  void migrate() {
    SchemaStore schema = tck.ability(SchemaStore.class);
    committed("k", 2);
    run("migrate", schema::migrate);
    run("verify", schema::verify);
    assertThat(call("ddl", schema::ddl)).as("ddl").isNotBlank();
    assertCame(drain()).as("due after migrate").hasSize(2);
  }
}
