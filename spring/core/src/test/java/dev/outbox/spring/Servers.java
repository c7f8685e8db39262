package dev.outbox.spring;

import dev.outbox.embedded.DatabaseServer;
import dev.outbox.embedded.EmbeddedKafka;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.postgresql.Driver;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;

/** The servers of all tests of a run: started when the first test asks, stopped after the last. */
public final class Servers implements AutoCloseable {
  private final DatabaseServer database = DatabaseServer.postgres();
  private final List<Schema> schemas = new ArrayList<>();
  private EmbeddedKafka broker;

  /** Gives them to the methods of tests. */
  public static final class Resolver implements ParameterResolver {
    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
      return parameter.getParameter().getType() == Servers.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
      return context
          .getRoot()
          .getStore(Namespace.GLOBAL)
          .getOrComputeIfAbsent(Servers.class, type -> new Servers(), Servers.class);
    }
  }

  /** An empty schema, and how to get there. */
  public record Schema(String name, String url, String user, String password) {

    /** As arguments of an application. */
    public List<String> arguments() {
      return List.of(
          "--spring.datasource.url=" + url,
          "--spring.datasource.username=" + user,
          "--spring.datasource.password=" + password);
    }
  }

  public synchronized Schema schema() throws SQLException {
    String name = "spring_" + UUID.randomUUID().toString().substring(0, 8);
    execute("create schema " + name);
    String url = database.jdbcUrl();
    Schema schema =
        new Schema(
            name,
            url + (url.contains("?") ? "&" : "?") + "currentSchema=" + name,
            database.user(),
            database.password());
    schemas.add(schema);
    return schema;
  }

  /** The embedded one: tests stop it. */
  public synchronized EmbeddedKafka broker() {
    if (broker == null) {
      broker = EmbeddedKafka.start();
    }
    return broker;
  }

  private void execute(String sql) throws SQLException {
    // Not by DriverManager, which looks for drivers once, and in the class loader of one test only.
    try (Connection connection =
            new SimpleDriverDataSource(
                    new Driver(), database.jdbcUrl(), database.user(), database.password())
                .getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  @Override
  public synchronized void close() throws SQLException {
    if (broker != null) {
      broker.close();
    }
    for (Schema schema : schemas) {
      execute("drop schema " + schema.name() + " cascade");
    }
    database.close();
  }
}
