package dev.outbox.embedded;

import org.opentest4j.TestAbortedException;

/** A replica set of MongoDB for tests, or what speaks its protocol. */
public interface MongoServer extends AutoCloseable {

  /** As the driver takes it; it may hold a password, so it is not for messages. */
  String connectionString();

  /** Ends what was started for the test; a server of the user's own stays as it is. */
  @Override
  default void close() {}

  /**
   * The user's own when the property {@code outbox.test.mongo.url} or the variable {@code
   * OUTBOX_TEST_MONGO_URL} names one; else a container, when Testcontainers is on the class path
   * and Docker runs. There is no embedded one.
   *
   * @throws TestAbortedException when there is none, with what would help; tests are then listed as
   *     skipped
   * @throws IllegalStateException when one is named that does not answer; it is asked once for all
   *     tests of the JVM
   */
  static MongoServer start() {
    String name = "MongoDB";
    String property = "outbox.test.mongo.url";
    return TestServers.pick(
        name,
        property,
        "mongodb://…/?replicaSet=…",
        url -> {
          NamedServers.Mongo.ask(name, property, url);
          return () -> url; // a record would show the password
        },
        "mongodb.MongoDBContainer",
        () -> Containers.Mongo.start(),
        TestServers::none);
  }
}
