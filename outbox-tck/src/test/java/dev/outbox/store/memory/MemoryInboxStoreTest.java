package dev.outbox.store.memory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.tck.inbox.InboxStoreProperties;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;

/** The memory inbox passes everything. */
class MemoryInboxStoreTest extends MemoryInboxFixture {

  @Nested
  class Properties extends InboxStoreProperties<MemoryTransaction> {
    /** Stories in which nothing happens would always end well. */
    @AfterEach
    void everythingHappened() {
      assertThat(seen().keySet())
          .as("what happened in the stories, and what was said")
          .contains(
              "firstTime: true",
              "firstTime: false",
              "firstTime: in",
              "begin: started,",
              "begin: in",
              "begin: done",
              "begin: mismatch",
              "renew: true",
              "renew: false",
              "complete: true",
              "complete: false",
              "release: true",
              "release: false");
    }
  }
}
