package dev.outbox.store.mongo;

import com.mongodb.MongoClientSettings;

/** The TCK of inboxes with a client whose settings are others, and another prefix. */
class MongoInboxVariantTest extends MongoInboxTck {

  @Override
  protected void configure(MongoClientSettings.Builder settings) {
    MongoVariantTest.unlikeOurs(settings);
  }

  @Override
  protected String prefix() {
    return "other_";
  }
}
