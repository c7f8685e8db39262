package dev.outbox.store.mongo;

import com.mongodb.MongoClientSettings;
import com.mongodb.ReadConcern;
import com.mongodb.ReadPreference;
import com.mongodb.WriteConcern;
import java.util.concurrent.TimeUnit;
import org.bson.UuidRepresentation;

/** The TCK with a client whose settings are others, and another prefix. */
class MongoVariantTest extends MongoStoreTck {

  /** What a user's client may have, and our collections do not ask for. */
  static void unlikeOurs(MongoClientSettings.Builder settings) {
    settings
        .readPreference(ReadPreference.secondaryPreferred())
        .readConcern(ReadConcern.AVAILABLE)
        .writeConcern(WriteConcern.W1)
        .retryWrites(false)
        .retryReads(false)
        .uuidRepresentation(UuidRepresentation.JAVA_LEGACY)
        .timeout(20, TimeUnit.SECONDS);
  }

  @Override
  protected void configure(MongoClientSettings.Builder settings) {
    unlikeOurs(settings);
  }

  @Override
  protected String prefix() {
    return "other_";
  }

  @Override
  protected int load() {
    return 500;
  }
}
