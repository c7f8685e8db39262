package dev.outbox.tck.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.outbox.SchemaException;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spi.store.SchemaStore;
import dev.outbox.tck.Rule;
import dev.outbox.tck.SchemaFixture;
import dev.outbox.tck.internal.Sentence;
import java.util.List;
import java.util.function.Consumer;

/** E1. */
@Rule("E1")
abstract class SchemaTests<T> extends StoreTests<T> {
  private void whileDamaged(Consumer<SchemaFixture> damage, Runnable test) {
    damaged(damage, test);
    committed("k", 1);
    assertCame("due, after the schema was made whole again", drain()).hasSize(1);
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
    if (store() instanceof SchemaStore) {
      assertSaid(
          what + ", by a new store's verify", () -> ((SchemaStore) tck.createStore()).verify());
    }
  }

  @Sentence("a missing schema is said in a sentence, also one that goes missing under a store")
  void missing() {
    committed("k", 1);
    drain();
    whileDamaged(
        SchemaFixture::dropSchema,
        () -> {
          assertSaid("a missing schema");
          assertSaid("a schema gone missing, by claim", () -> store().claim(request(1, LONG)));
          assertSaid(
              "a schema gone missing, by append",
              () -> tck.inTransaction(t -> store().append(t, List.of(message("k").build()))));
        });
  }

  @Sentence("an older or newer schema is said in a sentence")
  void otherVersion() {
    whileDamaged(SchemaFixture::makeSchemaOlder, () -> assertSaid("an older schema"));
    whileDamaged(SchemaFixture::makeSchemaNewer, () -> assertSaid("a newer schema"));
  }

  @Sentence("emptied tables of the store's own rows are repaired, or said in a sentence")
  void emptied() {
    committed("k", 1);
    whileDamaged(
        SchemaFixture::emptyInternalRows,
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
          if (thrown != null) {
            expect("claim with the store's own rows gone", thrown)
                .isInstanceOf(SchemaException.class);
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
