package dev.outbox.embedded;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.bson.Document;

/**
 * Asks a server that the user has named whether it answers: once for all tests of a JVM, or each of
 * them would wait as long as its driver does.
 */
final class NamedServers {
  /** For one that answers, this is long, on a busy machine too. */
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /** By property and URL: why it does not answer, if so. */
  private static final Map<String, Optional<Exception>> asked = new ConcurrentHashMap<>();

  private NamedServers() {}

  private interface Question {
    void ask() throws SQLException;
  }

  /**
   * Returns when it lets a client in.
   *
   * @param product for people
   * @throws IllegalStateException when it does not, with what names it; its address may hold a
   *     password
   */
  static void ask(String product, String property, String url, String user, String password) {
    ask(product, property, url, () -> connect(url, user, password));
  }

  /** The same for MongoDB: a class of its own, because its driver may not be there. */
  static final class Mongo {
    private Mongo() {}

    static void ask(String product, String property, String url) {
      NamedServers.ask(product, property, url, () -> ping(url));
    }

    private static void ping(String url) {
      MongoClientSettings settings =
          MongoClientSettings.builder()
              .applyConnectionString(new ConnectionString(url))
              .applyToSocketSettings(
                  s -> s.readTimeout((int) PATIENCE.toSeconds(), TimeUnit.SECONDS))
              .build();
      try (MongoClient client = MongoClients.create(settings)) {
        Document unused = client.getDatabase("admin").runCommand(new Document("ping", 1));
      }
    }
  }

  private static void ask(String product, String property, String url, Question question) {
    Optional<Exception> failure =
        asked.computeIfAbsent(property + " " + url, key -> failure(question));
    if (failure.isPresent()) {
      throw new IllegalStateException(
          "the %s that %s names does not answer: start it, or name another"
              .formatted(product, Machine.givenBy(property)),
          failure.get());
    }
  }

  private static Optional<Exception> failure(Question question) {
    try {
      question.ask();
      return Optional.empty();
    } catch (SQLException | RuntimeException e) {
      return Optional.of(e);
    }
  }

  /** For all drivers of this JVM, so one at a time. */
  private static synchronized void connect(String url, String user, String password)
      throws SQLException {
    int before = DriverManager.getLoginTimeout();
    DriverManager.setLoginTimeout((int) PATIENCE.toSeconds());
    try {
      DriverManager.getDriver(url); // its error does not show the URL, that of getConnection does
      try (Connection unused = DriverManager.getConnection(url, user, password)) {
        // it answers
      }
    } finally {
      DriverManager.setLoginTimeout(before);
    }
  }
}
