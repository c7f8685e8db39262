package dev.outbox.dev.torture;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.OutboxException;
import dev.outbox.OutboxMessage;
import dev.outbox.dev.torture.Work.Kind;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A process whose threads run business transactions, until it is told to end or killed. Each locks
 * its keys before it appends, as O5 asks for, and writes into a table of its own what it appends:
 * that table is what the oracle believes. Some stand still inside an insert, with a sequence drawn,
 * and some before they commit.
 *
 * <p>It writes down what it was told: "committed true|false ID,…", with whether the commit was
 * durable when it returned.
 */
final class ProducerMain {
  static final String TABLES =
      """
      create table torture_key (name varchar(64) primary key, last integer not null default 0);
      create table torture_work (id varchar(36) primary key, name varchar(64) not null,
        nth integer not null, kind varchar(16) not null, dedup varchar(80));
      create table torture_refused (id varchar(36) primary key, dedup varchar(80) not null)
      """;

  /** "long 5000": a transaction stays open for so many milliseconds after it has appended. */
  static final String LONG = "long";

  private static final int THREADS = 2;
  private static final int FEW_KEYS = 5;
  private static final int LONGEST_STALL_MILLIS = 300;
  private static final int LONGEST_DELAY_MILLIS = 1_500;
  private static final int LONGEST_PAUSE_MILLIS = 60;
  private static final int REMEMBERED = 200;

  private final Child child;
  private final int keys;
  private final HikariDataSource pool;
  private final JdbcOutboxStore store;
  private final AtomicLong standStill = new AtomicLong();
  private volatile CountDownLatch paused = new CountDownLatch(0);
  private volatile boolean pausing;
  private volatile boolean ending;

  private ProducerMain(Child child) {
    this.child = child;
    keys = Integer.parseInt(child.get("keys"));
    pool = child.pool(THREADS);
    store = child.store(pool);
  }

  public static void main(String[] args) throws Exception {
    try (Child child = Child.connect()) {
      new ProducerMain(child).run();
    }
  }

  private void run() throws InterruptedException {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      Producer producer = new Producer(i, child.seed() + i);
      Thread thread = new Thread(producer::run, "producer-" + i);
      thread.start();
      threads.add(thread);
    }
    child.say(Child.STARTED);
    for (String command = child.command(); !command.equals(Child.END); command = child.command()) {
      String[] words = command.split(" ");
      switch (words[0]) {
        case Child.PAUSE -> pause();
        case Child.GO_ON -> pausing = false;
        case Child.EXHAUST -> Child.exhaust(pool, Long.parseLong(words[1]));
        case LONG -> standStill.set(Long.parseLong(words[1]));
        default -> throw new IllegalArgumentException(command);
      }
    }
    ending = true;
    pausing = false;
    for (Thread thread : threads) {
      thread.join();
    }
    pool.close();
  }

  private void pause() throws InterruptedException {
    paused = new CountDownLatch(THREADS);
    pausing = true;
    paused.await();
    child.say(Child.PAUSED);
  }

  private final class Producer {
    private final String name;
    private final boolean durable;
    private final Random random;
    private final List<String> dedupKeys = new ArrayList<>();

    /** The first of them does not wait for its commits to be durable, where that is possible. */
    private Producer(int number, long seed) {
      name = child.name() + "/" + number;
      durable = number != 0 || child.dialect().commitLater().isEmpty();
      random = new Random(seed);
    }

    private void run() {
      try {
        while (!ending) {
          if (pausing) {
            paused.countDown();
            while (pausing) {
              Thread.sleep(10);
            }
            continue;
          }
          try (Connection connection = pool.getConnection()) {
            transaction(connection);
          } catch (SQLException | OutboxException e) {
            System.err.println(name + ": " + e);
          }
          Thread.sleep(random.nextInt(LONGEST_PAUSE_MILLIS));
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    private void transaction(Connection connection) throws SQLException, InterruptedException {
      connection.setAutoCommit(false);
      try {
        if (!durable) {
          execute(connection, child.dialect().commitLater().orElseThrow());
        }
        Map<String, Integer> last = lockKeys(connection);
        List<Appended> appended = new ArrayList<>();
        for (int i = random.nextInt(3); i >= 0; i--) {
          appended.addAll(append(connection, last));
        }
        record(connection, last, appended);
        standStill();
        if (random.nextInt(12) == 0) {
          connection.rollback();
        } else {
          connection.commit();
          committed(appended);
        }
      } catch (SQLException | RuntimeException e) {
        connection.rollback();
        throw e;
      }
    }

    private Map<String, Integer> lockKeys(Connection connection) throws SQLException {
      Map<String, Integer> last = new TreeMap<>(); // locked in one order by all
      for (int i = random.nextInt(2); i >= 0; i--) {
        last.put("key-" + random.nextInt(random.nextBoolean() ? keys : FEW_KEYS), 0);
      }
      for (Map.Entry<String, Integer> key : last.entrySet()) {
        query(connection, child.dialect().lockKey(), key.getKey());
        key.setValue(query(connection, child.dialect().readKey(), key.getKey()));
      }
      return last;
    }

    /** A message for each key. */
    private List<Appended> append(Connection connection, Map<String, Integer> last)
        throws SQLException {
      boolean bySql = random.nextInt(10) == 0;
      List<Work> works = new ArrayList<>();
      for (Map.Entry<String, Integer> key : last.entrySet()) {
        key.setValue(key.getValue() + 1);
        Kind kind = bySql ? Kind.PLAIN : kind();
        works.add(new Work(UUID.randomUUID(), key.getKey(), key.getValue(), kind));
      }
      if (bySql) {
        for (Work work : works) {
          plainSql(connection, work);
        }
        return works.stream().map(work -> new Appended(work, null, false)).toList();
      }
      List<OutboxMessage> messages = works.stream().map(this::message).toList();
      Set<UUID> refused = store.append(connection, messages).duplicates();
      List<Appended> appended = new ArrayList<>();
      for (int i = 0; i < works.size(); i++) {
        Work work = works.get(i);
        appended.add(new Appended(work, messages.get(i).dedupKey(), refused.contains(work.id())));
      }
      return appended;
    }

    private Kind kind() {
      int dice = random.nextInt(1_000);
      if (dice < 950) {
        return dice < 40 ? Kind.DELAYED : Kind.PLAIN;
      }
      Kind[] rare = {Kind.DOOMED, Kind.TOO_LARGE, Kind.POISON, Kind.HALTING};
      return dice < 970 ? rare[dice % rare.length] : Kind.PLAIN;
    }

    private OutboxMessage message(Work work) {
      OutboxMessage.Builder message = work.message();
      if (work.kind() == Kind.DELAYED) {
        message.deliverAfter(Duration.ofMillis(random.nextInt(LONGEST_DELAY_MILLIS)));
      }
      int dice = random.nextInt(20);
      if (dice == 0 && !dedupKeys.isEmpty()) {
        message.dedupKey(dedupKeys.get(random.nextInt(dedupKeys.size())));
      } else if (dice < 3) {
        message.dedupKey(name + "/" + work.id());
      }
      return message.build();
    }

    private void plainSql(Connection connection, Work work) throws SQLException {
      OutboxMessage message = work.message().build();
      int stall = random.nextInt(3) == 0 ? random.nextInt(LONGEST_STALL_MILLIS) : 0;
      try (PreparedStatement insert = connection.prepareStatement(child.dialect().slowInsert())) {
        insert.setString(1, message.id().toString());
        insert.setString(2, message.aggregateType());
        insert.setString(3, message.aggregateId());
        insert.setString(4, message.eventType());
        insert.setBytes(5, message.payload());
        insert.setDouble(6, stall / 1_000.0);
        insert.executeUpdate();
      }
    }

    /** What the oracle will believe, in the same transaction. */
    private void record(Connection connection, Map<String, Integer> last, List<Appended> appended)
        throws SQLException {
      for (Appended one : appended) {
        Work work = one.work();
        if (one.refused()) {
          update(
              connection,
              "insert into torture_refused (id, dedup) values (?, ?)",
              work.id().toString(),
              String.valueOf(one.dedup()));
        } else {
          update(
              connection,
              "insert into torture_work (id, name, nth, kind, dedup) values (?, ?, ?, ?, ?)",
              work.id().toString(),
              work.key(),
              work.nth(),
              work.kind().name(),
              one.dedup());
        }
      }
      for (Map.Entry<String, Integer> key : last.entrySet()) {
        update(
            connection,
            "update torture_key set last = ? where name = ?",
            key.getValue(),
            key.getKey());
      }
    }

    /** Sequences are drawn, and others commit first. */
    private void standStill() throws InterruptedException {
      long told = standStill.getAndSet(0);
      Thread.sleep(told > 0 ? told : random.nextInt(random.nextInt(20) == 0 ? 200 : 4));
    }

    private void committed(List<Appended> appended) {
      child
          .journal()
          .write(
              "committed",
              durable,
              Journal.list(appended.stream().filter(a -> !a.refused()).map(a -> a.work().id())));
      for (Appended one : appended) {
        if (one.dedup() != null && !one.refused()) {
          dedupKeys.add(one.dedup());
        }
      }
      while (dedupKeys.size() > REMEMBERED) {
        dedupKeys.remove(0);
      }
    }
  }

  private record Appended(Work work, @Nullable String dedup, boolean refused) {}

  private static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static int query(Connection connection, String sql, String parameter)
      throws SQLException {
    try (PreparedStatement select = connection.prepareStatement(sql)) {
      select.setString(1, parameter);
      try (ResultSet rows = select.executeQuery()) {
        if (!rows.next()) {
          throw new SQLException("no row for " + parameter);
        }
        Object first = rows.getObject(1);
        return first instanceof Number number ? number.intValue() : 0;
      }
    }
  }

  private static void update(Connection connection, String sql, @Nullable Object... parameters)
      throws SQLException {
    try (PreparedStatement update = connection.prepareStatement(sql)) {
      for (int i = 0; i < parameters.length; i++) {
        update.setObject(i + 1, parameters[i]);
      }
      update.executeUpdate();
    }
  }
}
