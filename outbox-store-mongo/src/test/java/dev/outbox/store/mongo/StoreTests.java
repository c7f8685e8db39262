package dev.outbox.store.mongo;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;

/** Tests of a store that is migrated, in a database of its own for all of them. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class StoreTests {
  TestDatabase database;
  MongoOutboxStore store;

  @BeforeAll
  void start() {
    database = TestDatabase.open();
    store = MongoOutboxStore.of(database.client, database.database.getName());
    store.migrate();
  }

  @AfterAll
  void stop() {
    if (database != null) {
      database.close();
    }
  }
}
