package dev.outbox.spring;

import static java.util.Objects.requireNonNull;

import com.mongodb.ClientSessionOptions;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoDatabase;
import dev.outbox.Appended;
import dev.outbox.NoTransactionException;
import dev.outbox.Outbox.CurrentTransaction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.core.InfrastructureProxy;
import org.springframework.dao.support.PersistenceExceptionTranslator;
import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.data.mongodb.MongoDatabaseUtils;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The transaction that a {@code MongoTransactionManager} manages. Spring Boot's auto-configuration
 * makes one; elsewhere give one to {@link dev.outbox.Outbox#joining}.
 *
 * <p>An append is refused with {@link NoTransactionException}, and writes nothing, when no
 * transaction is active, when it is over, as in what is called after its commit, when it is
 * read-only, and when it is not one of this factory. Errors of the driver come through as they are,
 * with their label {@code TransientTransactionError}.
 *
 * <p>Safe for use by many threads.
 */
public final class SpringMongoTransaction implements CurrentTransaction<ClientSession> {
  private final MongoDatabaseFactory factory;

  private SpringMongoTransaction(MongoDatabaseFactory factory) {
    this.factory = requireNonNull(factory, "factory");
  }

  /**
   * The transactions of a factory.
   *
   * @param factory the one that the transaction manager has
   */
  public static SpringMongoTransaction of(MongoDatabaseFactory factory) {
    return new SpringMongoTransaction(factory);
  }

  /**
   * {@inheritDoc}
   *
   * @throws NoTransactionException as the class says
   */
  @Override
  public Appended with(Function<ClientSession, Appended> append) {
    ActiveTransaction.require();
    SessionOf session = new SessionOf(factory);
    MongoDatabase unused = MongoDatabaseUtils.getDatabase(session);
    if (session.current == null && TransactionSynchronizationManager.isSynchronizationActive()) {
      throw new NoTransactionException(
          "the current transaction is not one of MongoDB's: define a MongoTransactionManager for the MongoDatabaseFactory, and name it in @Transactional where there are several transaction managers");
    }
    if (session.current == null || !session.current.hasActiveTransaction()) {
      throw ActiveTransaction.over();
    }
    return append.apply(session.current);
  }

  /**
   * Stands for a factory, and learns the session that Spring gives to it: what holds the session is
   * not public.
   */
  private static final class SessionOf implements MongoDatabaseFactory, InfrastructureProxy {
    private final MongoDatabaseFactory factory;
    private @Nullable ClientSession current;

    SessionOf(MongoDatabaseFactory factory) {
      this.factory = factory;
    }

    @Override
    public MongoDatabaseFactory withSession(ClientSession session) {
      current = session;
      return factory.withSession(session);
    }

    @Override
    public Object getWrappedObject() {
      return factory;
    }

    @Override
    public MongoDatabase getMongoDatabase() {
      return factory.getMongoDatabase();
    }

    @Override
    public MongoDatabase getMongoDatabase(String name) {
      return factory.getMongoDatabase(name);
    }

    @Override
    public PersistenceExceptionTranslator getExceptionTranslator() {
      return factory.getExceptionTranslator();
    }

    @Override
    public ClientSession getSession(ClientSessionOptions options) {
      return factory.getSession(options);
    }
  }
}
