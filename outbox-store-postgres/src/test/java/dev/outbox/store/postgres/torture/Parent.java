package dev.outbox.store.postgres.torture;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.store.postgres.Database;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/** In a child: what the parent says. The child ends when the parent does. */
final class Parent {
  private final Map<String, String> config = new LinkedHashMap<>();
  private final BlockingQueue<String> commands = new LinkedBlockingQueue<>();

  /** Reads the configuration, up to an empty line. */
  static Parent connect() throws IOException {
    Parent parent = new Parent();
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    for (String line = in.readLine(); line != null && !line.isEmpty(); line = in.readLine()) {
      String[] pair = line.split("=", 2);
      parent.config.put(pair[0], pair[1]);
    }
    Thread reader = new Thread(() -> parent.read(in), "parent");
    reader.setDaemon(true);
    reader.start();
    return parent;
  }

  /** What a child needs to reach the parent's database. */
  static Map<String, String> config(DatabaseServer server, Database database) {
    Map<String, String> config = new LinkedHashMap<>();
    config.put("url", server.jdbcUrl());
    config.put("user", server.user());
    config.put("password", server.password());
    config.put("schema", database.query("select current_schema()"));
    return config;
  }

  String get(String name) {
    return config.get(name);
  }

  /** A pool on the parent's database. */
  HikariDataSource pool(int size) {
    HikariConfig hikari = new HikariConfig();
    hikari.setJdbcUrl(get("url"));
    hikari.setUsername(get("user"));
    hikari.setPassword(get("password"));
    hikari.setMaximumPoolSize(size);
    hikari.setMinimumIdle(0);
    hikari.setConnectionInitSql("set search_path to " + get("schema"));
    return new HikariDataSource(hikari);
  }

  /** Says a line to the parent. */
  void say(String line) {
    System.out.println(line);
    System.out.flush();
  }

  /** Waits for the parent's next line. */
  String command() {
    try {
      return commands.take();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private void read(BufferedReader in) {
    try {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        commands.add(line);
      }
    } catch (IOException e) {
      // as good as its end
    }
    Runtime.getRuntime().halt(3);
  }
}
