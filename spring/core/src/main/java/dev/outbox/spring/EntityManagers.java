package dev.outbox.spring;

import dev.outbox.PermanentOutboxException;
import jakarta.persistence.EntityManager;
import java.util.Map;
import org.springframework.beans.BeanWrapper;
import org.springframework.beans.PropertyAccessorFactory;
import org.springframework.dao.support.DataAccessUtils;
import org.springframework.dao.support.PersistenceExceptionTranslator;
import org.springframework.orm.jpa.EntityManagerFactoryInfo;
import org.springframework.orm.jpa.EntityManagerFactoryUtils;
import org.springframework.orm.jpa.EntityManagerHolder;
import org.springframework.orm.jpa.JpaDialect;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** A class of its own, so that it is only loaded where JPA is there. */
final class EntityManagers {
  private static final String FLUSHING = "persistenceContext.flushing";

  private EntityManagers() {}

  /** Whether one that is bound to this thread has a transaction which is not over. */
  static boolean isTransactionActive() {
    return TransactionSynchronizationManager.getResourceMap().values().stream()
        .anyMatch(
            bound ->
                bound instanceof EntityManagerHolder holder
                    && holder.isSynchronizedWithTransaction()
                    && holder.getEntityManager().getTransaction().isActive());
  }

  /**
   * Flushes what is bound to this thread and takes part in the transaction. Others may be bound for
   * the time of a web request, without a transaction.
   */
  static void flush() {
    // A copy: listeners of entities may bind something.
    for (Map.Entry<Object, Object> bound :
        Map.copyOf(TransactionSynchronizationManager.getResourceMap()).entrySet()) {
      if (bound.getValue() instanceof EntityManagerHolder holder) {
        flush(bound.getKey(), holder);
      }
    }
  }

  private static void flush(Object factory, EntityManagerHolder holder) {
    EntityManager entities;
    try {
      entities = holder.getEntityManager();
    } catch (IllegalStateException e) {
      return; // there is a StatelessSession alone, which writes at once
    }
    if (!entities.isJoinedToTransaction()) {
      return;
    }
    if (isFlushing(entities)) {
      throw new PermanentOutboxException(
          "JPA is flushing, as when it calls an entity's @PostUpdate, and cannot flush once more before the append: append where the change is made, in the service, or leave the flush to yourself (outbox.append.flush-jpa=false, flushJpa of SpringTransaction.of)");
    }
    try {
      entities.flush();
    } catch (RuntimeException e) {
      throw DataAccessUtils.translateIfNecessary(e, translator(factory));
    }
  }

  /** A flush inside of one would begin it anew. Of Hibernate only: JPA itself does not say. */
  private static boolean isFlushing(EntityManager entities) {
    BeanWrapper session = PropertyAccessorFactory.forBeanPropertyAccess(entities.getDelegate());
    return session.isReadableProperty(FLUSHING)
        && Boolean.TRUE.equals(session.getPropertyValue(FLUSHING));
  }

  private static PersistenceExceptionTranslator translator(Object factory) {
    JpaDialect dialect =
        factory instanceof EntityManagerFactoryInfo info ? info.getJpaDialect() : null;
    return dialect != null
        ? dialect
        : EntityManagerFactoryUtils::convertJpaAccessExceptionIfPossible;
  }
}
