package dev.outbox.spring;

import static java.util.Objects.requireNonNull;

import dev.outbox.Appended;
import dev.outbox.NoTransactionException;
import dev.outbox.Outbox;
import dev.outbox.Outbox.CurrentTransaction;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.function.Function;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/**
 * The transaction that Spring manages for a data source, by JDBC or by JPA. Spring Boot's
 * auto-configuration makes one; elsewhere give one to {@link Outbox#joining}:
 *
 * <pre>{@code
 * JoinedOutbox outbox = store.joining(SpringTransaction.of(dataSource, transactionManager));
 * }</pre>
 *
 * <p>An append is refused with {@link NoTransactionException}, and writes nothing:
 *
 * <ul>
 *   <li>when no transaction is active, whatever the connection's auto-commit is;
 *   <li>when the transaction is over, in callbacks after the commit;
 *   <li>when it is read-only;
 *   <li>when it is one of another data source; the error names both;
 *   <li>when its manager was not given to {@link #listenTo}.
 * </ul>
 *
 * <p>With JPA, changes that are not written yet are written before the message ({@code
 * EntityManager.flush}), so that the update that locks the aggregate's row comes first (O5). A
 * flush looks at all entities that are loaded: append many messages in one call.
 *
 * <p>Safe for use by many threads.
 */
public final class SpringTransaction implements CurrentTransaction<Connection> {
  private static final boolean JPA =
      ClassUtils.isPresent(
              "jakarta.persistence.EntityManager", SpringTransaction.class.getClassLoader())
          && ClassUtils.isPresent(
              "org.springframework.orm.jpa.EntityManagerHolder",
              SpringTransaction.class.getClassLoader());

  private final DataSource dataSource;
  private final Manager manager;
  private final boolean flushJpa;
  private final Function<DataSource, String> names;

  private SpringTransaction(
      DataSource dataSource, boolean flushJpa, Function<DataSource, String> names) {
    this.manager = new Manager(requireNonNull(dataSource, "dataSource"));
    this.dataSource = requireNonNull(manager.getDataSource(), "dataSource");
    this.flushJpa = flushJpa;
    this.names = requireNonNull(names, "names");
  }

  /**
   * The transactions of a data source.
   *
   * @param dataSource the one that the transaction manager has
   */
  public static SpringTransaction of(
      DataSource dataSource, ConfigurableTransactionManager transactionManager) {
    listenTo(transactionManager);
    return of(dataSource, true, Object::toString);
  }

  /**
   * The transactions of a data source, of managers that are given to {@link #listenTo}.
   *
   * @param dataSource the one that the transaction managers have
   * @param flushJpa whether to flush before each append; without, flush yourself
   * @param names what errors call a data source
   */
  public static SpringTransaction of(
      DataSource dataSource, boolean flushJpa, Function<DataSource, String> names) {
    return new SpringTransaction(dataSource, flushJpa, names);
  }

  /**
   * Listens to the manager's transactions from now on, because Spring does not show which of them
   * are over. Transactions of JPA show it themselves. Spring Boot's auto-configuration does this
   * for each manager that is a bean.
   */
  public static void listenTo(ConfigurableTransactionManager transactionManager) {
    OpenTransactions.of(transactionManager);
  }

  /**
   * {@inheritDoc}
   *
   * @throws NoTransactionException as the class says
   * @throws org.springframework.dao.DataAccessException what the flush failed with, as a repository
   *     would throw it
   * @throws dev.outbox.PermanentOutboxException inside of a flush, as in callbacks of entities
   * @throws org.springframework.transaction.TransactionTimedOutException when the transaction's
   *     timeout is over
   */
  @Override
  public Appended with(Function<Connection, Appended> append) {
    ActiveTransaction.require();
    ConnectionHolder bound = manager.bound();
    if (bound == null) {
      throw new NoTransactionException(
          "the current transaction is one of %s, and the outbox is in the DataSource %s: name the transaction manager of the outbox's database, as in @Transactional(\"ordersTransactionManager\"), or put the outbox into the other database"
              .formatted(others(), names.apply(dataSource)));
    }
    requireOpen(bound);
    if (flushJpa && JPA) {
      EntityManagers.flush();
    }
    Connection connection = connection(bound);
    try {
      return append.apply(connection);
    } finally {
      DataSourceUtils.releaseConnection(connection, dataSource);
    }
  }

  /** Where the transaction has a timeout, one whose statements have what is left of it. */
  private Connection connection(ConnectionHolder bound) {
    if (!bound.hasTimeout()) {
      return DataSourceUtils.getConnection(dataSource);
    }
    try {
      return new TransactionAwareDataSourceProxy(dataSource).getConnection();
    } catch (SQLException e) {
      throw new CannotGetJdbcConnectionException("the data source gives no connection", e);
    }
  }

  private static void requireOpen(ConnectionHolder bound) {
    Boolean open = OpenTransactions.isOpen(bound);
    if (!bound.isSynchronizedWithTransaction() && JPA) {
      open = EntityManagers.isTransactionActive() && !Boolean.FALSE.equals(open);
    }
    if (open == null) {
      throw new NoTransactionException(
          "the outbox does not hear when a transaction of the current transaction's manager is over: make the manager a bean of this context, or call SpringTransaction.listenTo(manager)");
    }
    if (!open) {
      throw ActiveTransaction.over();
    }
  }

  private String others() {
    String others =
        TransactionSynchronizationManager.getResourceMap().keySet().stream()
            .filter(key -> key != dataSource)
            .filter(DataSource.class::isInstance)
            .map(key -> "the DataSource " + names.apply((DataSource) key))
            .collect(Collectors.joining(" and "));
    return others.isEmpty() ? "a transaction manager without a DataSource, as JTA's" : others;
  }

  /** Never manages anything: it is asked for the transaction of its data source. */
  private static final class Manager extends DataSourceTransactionManager {
    private static final long serialVersionUID = 1L;

    /** Puts the target in the place of a proxy that is aware of transactions. */
    Manager(DataSource dataSource) {
      super(dataSource);
    }

    /**
     * The connection of the data source's transaction. One that is bound to the thread is not
     * enough: {@link DataSourceUtils} binds one, too, for whoever asks during a transaction of
     * another data source. Such a connection is synchronized with a transaction and has none; JPA's
     * has none that Spring knows, and is not synchronized.
     */
    @Nullable ConnectionHolder bound() {
      Object bound = TransactionSynchronizationManager.getResource(obtainDataSource());
      return bound instanceof ConnectionHolder holder
              && (!holder.isSynchronizedWithTransaction()
                  || isExistingTransaction(doGetTransaction()))
          ? holder
          : null;
    }
  }
}
