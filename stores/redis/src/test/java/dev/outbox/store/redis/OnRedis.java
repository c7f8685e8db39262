package dev.outbox.store.redis;

import dev.outbox.tck.AutoCommit;
import dev.outbox.tck.FailsOnConflict;
import dev.outbox.tck.LosesReplies;
import dev.outbox.tck.MovesClock;
import dev.outbox.tck.SchemaFixture;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** What the suites of the store and of its inbox have in common: a Redis, and keys of their own. */
interface OnRedis
    extends AutoCommit<RedisTransaction>, FailsOnConflict, LosesReplies, MovesClock, SchemaFixture {

  TestRedis.OfSuite ofSuite();

  @BeforeAll
  default void start() {
    if (ofSuite().start()) {
      migrate();
    }
  }

  @AfterAll
  default void stop() {
    ofSuite().stop();
  }

  default TestRedis redis() {
    return ofSuite().get();
  }

  /** Whose keys these are. */
  String kind();

  void migrate();

  @Override
  default void withoutTransaction(Consumer<RedisTransaction> work) {
    redis().withoutTransaction(work);
  }

  @Override
  default boolean isToRunAgain(Throwable failure) {
    return TestRedis.isToRunAgain(failure);
  }

  @Override
  default void losingTheReply(Runnable work) {
    redis().losingTheReply(work);
  }

  @Override
  default void dropSchema() {
    redis().remove(kind(), key -> true);
  }

  @Override
  default void makeSchemaOlder() {
    redis().setSchema(kind(), 0);
  }

  @Override
  default void makeSchemaNewer() {
    redis().setSchema(kind(), 2);
  }

  /** All others are what was appended or handled. */
  @Override
  default void emptyInternalRows() {
    redis().remove(kind(), redis().schema(kind())::equals);
  }

  @Override
  default void restoreSchema() {
    dropSchema();
    migrate();
  }
}
