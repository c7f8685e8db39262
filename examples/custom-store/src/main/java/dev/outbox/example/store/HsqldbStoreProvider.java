package dev.outbox.example.store;

import dev.outbox.PermanentOutboxException;
import dev.outbox.spi.store.StoreProvider;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.hsqldb.jdbc.JDBCDataSource;

/** Opens the store for programs, as {@code outbox relay}, which find it by its jar. */
public final class HsqldbStoreProvider implements StoreProvider {

  @Override
  public String name() {
    return "hsqldb";
  }

  @Override
  public String exampleUrl() {
    return "jdbc:hsqldb:file:/var/lib/shop/db;shutdown=true";
  }

  @Override
  public List<String> urlPrefixes() {
    return List.of("jdbc:hsqldb:");
  }

  @Override
  public Opened open(Settings settings) {
    if (settings.schema() != null || !settings.prefix().equals(Settings.DEFAULT_PREFIX)) {
      throw new IllegalArgumentException(
          "the tables of this store are always outbox_*: give no schema and no prefix");
    }
    settings.history().requireNone("HSQLDB");
    JDBCDataSource dataSource = new JDBCDataSource();
    dataSource.setUrl(settings.url());
    dataSource.setUser(settings.user());
    dataSource.setPassword(settings.password());
    return new OpenedHsqldb(
        dataSource, new AdministeredHsqldbStore(dataSource), connect(dataSource));
  }

  private static Connection connect(JDBCDataSource dataSource) {
    try {
      return dataSource.getConnection();
    } catch (SQLException e) {
      throw new PermanentOutboxException("cannot connect to HSQLDB: " + e.getMessage(), e);
    }
  }

  /** Keeps one connection: a database in a file is closed with its last one. */
  private record OpenedHsqldb(
      JDBCDataSource dataSource, AdministeredHsqldbStore store, Connection kept) implements Opened {

    @Override
    public void check() {
      try (Connection tried = connect(dataSource)) {
        tried.isValid(1);
      } catch (SQLException e) {
        throw new PermanentOutboxException("HSQLDB does not answer: " + e.getMessage(), e);
      }
    }

    @Override
    public void close() {
      try {
        kept.close();
      } catch (SQLException e) {
        throw new PermanentOutboxException("the connection cannot be closed: " + e.getMessage(), e);
      }
    }
  }
}
