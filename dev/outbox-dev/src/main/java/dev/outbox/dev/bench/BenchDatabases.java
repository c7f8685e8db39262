package dev.outbox.dev.bench;

import dev.outbox.store.mongo.MongoUrl;
import java.util.Map;

/** Those that there are, by their URLs. */
public final class BenchDatabases {
  private BenchDatabases() {}

  /**
   * Connects and makes a schema with all tables.
   *
   * @throws IllegalStateException when it is not possible, with what the database said
   */
  public static BenchDatabase open(String url, String user, String password) {
    return MongoUrl.isOne(url)
        ? MongoBenchDatabase.open(url, user, password)
        : JdbcBenchDatabase.open(url, user, password);
  }

  /** The tables of another process's database. It is that process's to close. */
  static BenchDatabase attach(Map<String, String> address) {
    return MongoUrl.isOne(address.getOrDefault("url", ""))
        ? MongoBenchDatabase.attach(address)
        : JdbcBenchDatabase.attach(address);
  }
}
