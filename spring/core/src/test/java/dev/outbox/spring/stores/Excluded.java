package dev.outbox.spring.stores;

/** Auto-configurations that a test does without, in the names of both generations. */
final class Excluded {
  static final String MONGO =
      "org.springframework.boot.autoconfigure.data.mongo.MongoDataAutoConfiguration,"
          + "org.springframework.boot.data.mongodb.autoconfigure.DataMongoAutoConfiguration";
  static final String JDBC =
      "org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration,"
          + "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration";

  private Excluded() {}
}
