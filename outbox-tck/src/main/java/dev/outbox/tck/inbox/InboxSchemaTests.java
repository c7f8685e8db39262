package dev.outbox.tck.inbox;

import dev.outbox.spi.store.InboxStore;
import dev.outbox.spi.store.SchemaStore;
import dev.outbox.tck.Rule;
import dev.outbox.tck.SchemaFixture;
import dev.outbox.tck.internal.Sentence;
import java.util.function.Consumer;

/** E1. */
@Rule("E1")
abstract class InboxSchemaTests<T> extends InboxTests<T> {
  private void whileDamaged(Consumer<SchemaFixture> damage, Runnable test) {
    damaged(damage, test);
    expect("firstTime, after the schema was made whole", firstTime(key("after"))).isTrue();
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

  @Sentence("a missing schema is said in a sentence, also one that goes missing under an inbox")
  void missing() {
    firstTime(KEY);
    whileDamaged(
        SchemaFixture::dropSchema,
        () -> {
          assertSaidByNew("a missing schema");
          assertSaid("a schema gone missing, by begin", () -> store().begin(KEY, LONG));
          assertSaid(
              "a schema gone missing, by firstTime",
              () -> tck.inTransaction(t -> store().firstTime(t, KEY)));
        });
  }

  @Sentence("an older or newer schema, and one without a version, is said in a sentence")
  void otherVersion() {
    whileDamaged(SchemaFixture::makeSchemaOlder, () -> assertSaidByNew("an older schema"));
    whileDamaged(SchemaFixture::makeSchemaNewer, () -> assertSaidByNew("a newer schema"));
    whileDamaged(
        SchemaFixture::emptyInternalRows, () -> assertSaidByNew("a schema without its version"));
  }

  @Sentence("migrate of a schema that is there changes nothing; verify finds it whole")
  void migrate() {
    firstTime(KEY);
    assertMigrated();
    expect("firstTime of a key from before", firstTime(KEY)).isFalse();
  }
}
