package dev.outbox.spring;

import static java.util.Objects.requireNonNull;

import dev.outbox.Appended;
import dev.outbox.CurrentTransaction;
import dev.outbox.NoTransactionException;
import dev.outbox.Outbox;
import java.sql.Connection;
import java.util.function.Function;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/**
 * The transaction that Spring manages for a data source, by JDBC or by JPA. Spring Boot's
 * auto-configuration makes one; elsewhere give one to {@link Outbox#joining}:
 *
 * <pre>{@code
 * JoinedOutbox outbox = store.joining(SpringTransaction.of(dataSource));
 * }</pre>
 *
 * <p>An append is refused with {@link NoTransactionException}, and writes nothing, when no
 * transaction is active, whatever the connection says of auto-commit; when it is read-only; and
 * when it is one of another data source, naming both.
 *
 * <p>Where JPA is there, what it has not yet written in this transaction is written before the
 * message ({@code EntityManager.flush}), so that the update that locks the aggregate's row comes
 * first (O5). It costs a look at all entities that are loaded: append many messages in one call.
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
  public static SpringTransaction of(DataSource dataSource) {
    return of(dataSource, true, Object::toString);
  }

  /**
   * The transactions of a data source.
   *
   * @param dataSource the one that the transaction manager has
   * @param flushJpa whether to flush before each append; without, flush yourself
   * @param names what errors call a data source
   */
  public static SpringTransaction of(
      DataSource dataSource, boolean flushJpa, Function<DataSource, String> names) {
    return new SpringTransaction(dataSource, flushJpa, names);
  }

  /**
   * {@inheritDoc}
   *
   * @throws NoTransactionException as the class says
   * @throws org.springframework.dao.DataAccessException what the flush failed with, as a repository
   *     would throw it
   */
  @Override
  public Appended with(Function<Connection, Appended> append) {
    ActiveTransaction.require();
    if (!manager.isActive()) {
      throw new NoTransactionException(
          "the current transaction is one of %s, and the outbox is in the DataSource %s: name the transaction manager of the outbox's database, as in @Transactional(\"ordersTransactionManager\"), or put the outbox into the other database"
              .formatted(others(), names.apply(dataSource)));
    }
    if (flushJpa && JPA) {
      EntityManagers.flush();
    }
    Connection connection = DataSourceUtils.getConnection(dataSource);
    try {
      return append.apply(connection);
    } finally {
      DataSourceUtils.releaseConnection(connection, dataSource);
    }
  }

  private String others() {
    String others =
        TransactionSynchronizationManager.getResourceMap().keySet().stream()
            .filter(key -> key != dataSource)
            .filter(DataSource.class::isInstance)
            .map(key -> "the DataSource " + names.apply((DataSource) key))
            .collect(Collectors.joining(" and "));
    return others.isEmpty() ? "a transaction manager without a DataSource" : others;
  }

  /** Never manages anything: it is asked whether there is a transaction of its data source. */
  private static final class Manager extends DataSourceTransactionManager {
    private static final long serialVersionUID = 1L;

    /** Puts the target in the place of a proxy that is aware of transactions. */
    Manager(DataSource dataSource) {
      super(dataSource);
    }

    /**
     * A connection that is bound to the thread is not enough: whoever asks {@link DataSourceUtils}
     * for one during a transaction of another data source binds it too. That one is synchronized
     * with a transaction but has none, and JPA's has none that Spring knows but is not
     * synchronized.
     */
    boolean isActive() {
      Object bound = TransactionSynchronizationManager.getResource(obtainDataSource());
      return bound instanceof ConnectionHolder holder
          && (!holder.isSynchronizedWithTransaction() || isExistingTransaction(doGetTransaction()));
    }
  }
}
