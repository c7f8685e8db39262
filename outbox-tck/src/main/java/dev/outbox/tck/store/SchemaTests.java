package dev.outbox.tck.store;

import dev.outbox.SchemaException;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spi.store.SchemaStore;
import dev.outbox.tck.Rule;
import dev.outbox.tck.SchemaFixture;
import dev.outbox.tck.internal.Sentence;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

@Rule("E1")
abstract class SchemaTests<T> extends StoreTests<T> {
  private void whileDamaged(Consumer<SchemaFixture> damage, Runnable test) {
    damaged(damage, test);
    committed("k", 1);
    assertCame("due, after the schema was made whole again", drain()).hasSize(1);
  }

  /** That a store says a sentence for each verb. */
  private void assertSaid(String what, Supplier<OutboxStore<T>> by) {
    assertSaid(what + ", by claim", () -> by.get().claim(request(1, LONG)));
    assertSaid(
        what + ", by append",
        () -> {
          OutboxStore<T> store = by.get();
          tck.inTransaction(t -> store.append(t, List.of(message("k").build())));
        });
    if (store() instanceof SchemaStore) {
      assertSaid(what + ", by verify", () -> ((SchemaStore) by.get()).verify());
    }
  }

  @Sentence("a missing schema is said in a sentence, also one that goes missing under a store")
  void missing() {
    committed("k", 1);
    drain();
    whileDamaged(
        SchemaFixture::dropSchema,
        () -> {
          assertSaid("a missing schema", tck::createStore);
          assertSaid("a schema gone missing", this::store);
        });
  }

  @Sentence("an older or newer schema is said in a sentence")
  void otherVersion() {
    whileDamaged(
        SchemaFixture::makeSchemaOlder, () -> assertSaid("an older schema", tck::createStore));
    whileDamaged(
        SchemaFixture::makeSchemaNewer, () -> assertSaid("a newer schema", tck::createStore));
  }

  @Sentence("emptied tables of the store's own rows are repaired, or said in a sentence")
  void emptied() {
    committed("k", 1);
    whileDamaged(
        SchemaFixture::emptyInternalRows,
        () -> {
          try {
            Claim claim = tck.createStore().claim(request(1, LONG));
            expect("due with the store's own rows gone", claim.messages()).isNotEmpty();
          } catch (RuntimeException e) {
            expect("claim with the store's own rows gone", e).isInstanceOf(SchemaException.class);
          }
          tck.reset();
        });
  }

  @Sentence("migrate of a schema that is there changes nothing; verify finds it whole")
  void migrate() {
    committed("k", 2);
    assertMigrated();
    assertCame("due after migrate", drain()).hasSize(2);
  }
}
