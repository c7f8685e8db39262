package dev.outbox.store.postgres;

import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.outbox.store.jdbc.StalledReaderTests;
import dev.outbox.store.jdbc.TestDatabase;
import org.junit.jupiter.api.BeforeEach;

class StalledReaderTest extends StalledReaderTests {
  StalledReaderTest() {
    super(new Postgres());
  }

  @BeforeEach
  void assumeThatTheServerNotices() {
    TestDatabase one = database.withOneConnection();
    one.execute("set tcp_user_timeout = 1000");
    String there = one.query("show tcp_user_timeout");
    one.pool.close();
    assumeFalse(
        there.equals("0"),
        "the server's system has no TCP_USER_TIMEOUT: such a client is not noticed there");
  }
}
