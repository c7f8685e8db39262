package dev.outbox.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.outbox.SchemaException;
import dev.outbox.spi.store.InboxStore;
import dev.outbox.spi.store.SchemaStore;
import org.junit.jupiter.api.Test;

/** E1. */
abstract class InboxSchemaTests<T> extends InboxTests<T> {
  InboxSchemaTests(InboxStoreTck<T> tck) {
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
    assertThat(firstTime(key("after"))).as("firstTime, after the schema was made whole").isTrue();
  }

  private void assertSaidByNew(String what) {
    assertSaid(what + ", by a new inbox's begin", () -> tck.createStore().begin(KEY, LONG));
    assertSaid(
        what + ", by a new inbox's firstTime",
        () -> {
          InboxStore<T> store = tck.createStore();
          tck.inTransaction(t -> store.firstTime(t, KEY));
        });
    assertSaid(what + ", by a new inbox's housekeep", () -> tck.createStore().housekeep());
    if (store() instanceof SchemaStore) {
      assertSaid(
          what + ", by a new inbox's verify", () -> ((SchemaStore) tck.createStore()).verify());
    }
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
    damaged(fixture::dropSchema, () -> assertSaidByNew("a missing schema"));
  }

  @Test
  @Rule("E1")
  @Sentence("a schema that goes missing under a running inbox is said in a sentence")
  void goesMissing() {
    SchemaFixture fixture = tck.fixture(SchemaFixture.class);
    firstTime(KEY);
    damaged(
        fixture::dropSchema,
        () -> {
          assertSaid("a schema gone missing, by begin", () -> store().begin(KEY, LONG));
          assertSaid(
              "a schema gone missing, by firstTime",
              () -> tck.inTransaction(t -> store().firstTime(t, KEY)));
        });
  }

  @Test
  @Rule("E1")
  @Sentence("an older schema, and one without a version, is said in a sentence")
  void older() {
    SchemaFixture fixture = tck.fixture(SchemaFixture.class);
    damaged(fixture::makeSchemaOlder, () -> assertSaidByNew("an older schema"));
    damaged(fixture::emptyInternalRows, () -> assertSaidByNew("a schema without its version"));
  }

  @Test
  @Rule("E1")
  @Sentence("a newer schema is said in a sentence")
  void newer() {
    SchemaFixture fixture = tck.fixture(SchemaFixture.class);
    damaged(fixture::makeSchemaNewer, () -> assertSaidByNew("a newer schema"));
  }

  @Test
  @Rule("E1")
  @Sentence("migrate of a schema that is there changes nothing; verify finds it whole")
  void migrate() {
    SchemaStore schema = tck.ability(SchemaStore.class);
    firstTime(KEY);
    StoreTests.run("migrate", schema::migrate);
    StoreTests.run("verify", schema::verify);
    assertThat(StoreTests.call("ddl", schema::ddl)).as("ddl").isNotBlank();
    assertThat(firstTime(KEY)).as("firstTime of a key from before").isFalse();
  }
}
