package dev.outbox.tck.inbox;

import dev.outbox.spi.store.InboxStore;
import dev.outbox.spi.store.SchemaStore;
import dev.outbox.tck.Rule;
import dev.outbox.tck.SchemaFixture;
import dev.outbox.tck.internal.Sentence;
import java.util.function.Consumer;
import java.util.function.Supplier;

@Rule("E1")
abstract class InboxSchemaTests<T> extends InboxTests<T> {
  private void whileDamaged(Consumer<SchemaFixture> damage, Runnable test) {
    damaged(damage, test);
    expect("firstTime, after the schema was made whole", firstTime(key("after"))).isTrue();
  }

  /** That an inbox says a sentence for each verb. */
  private void assertSaid(String what, Supplier<InboxStore<T>> by) {
    assertSaid(what + ", by begin", () -> by.get().begin(KEY, LONG));
    assertSaid(
        what + ", by firstTime",
        () -> {
          InboxStore<T> store = by.get();
          tck.inTransaction(t -> store.firstTime(t, KEY));
        });
    assertSaid(what + ", by housekeep", () -> by.get().housekeep());
    if (store() instanceof SchemaStore) {
      assertSaid(what + ", by verify", () -> ((SchemaStore) by.get()).verify());
    }
  }

  @Sentence("a missing schema is said in a sentence, also one that goes missing under an inbox")
  void missing() {
    firstTime(KEY);
    whileDamaged(
        SchemaFixture::dropSchema,
        () -> {
          assertSaid("a missing schema", tck::createStore);
          assertSaid("a schema gone missing", this::store);
        });
  }

  @Sentence("an older or newer schema, and one without a version, is said in a sentence")
  void otherVersion() {
    whileDamaged(
        SchemaFixture::makeSchemaOlder, () -> assertSaid("an older schema", tck::createStore));
    whileDamaged(
        SchemaFixture::makeSchemaNewer, () -> assertSaid("a newer schema", tck::createStore));
    whileDamaged(
        SchemaFixture::emptyInternalRows,
        () -> assertSaid("a schema without its version", tck::createStore));
  }

  @Sentence("migrate of a schema that is there changes nothing; verify finds it whole")
  void migrate() {
    firstTime(KEY);
    assertMigrated();
    expect("firstTime of a key from before", firstTime(KEY)).isFalse();
  }
}
