package dev.outbox.jakarta;

import static org.assertj.core.api.Assertions.assertThat;

import com.atomikos.icatch.jta.TransactionSynchronizationRegistryImp;
import com.atomikos.icatch.jta.UserTransactionManager;
import com.atomikos.jdbc.AtomikosDataSourceBean;
import dev.outbox.OutboxMessage;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.postgres.PostgresOutboxStore;
import dev.outbox.testing.RecordingPublisher;
import dev.outbox.testing.RelayOnce;
import java.nio.file.Path;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.postgresql.ds.PGSimpleDataSource;
import org.postgresql.xa.PGXADataSource;

@DisplayName("An append in a transaction of Atomikos")
class AtomikosTest {

  @Test
  @DisplayName("is in it, though its connection is enlisted with the first statement only")
  void first(@TempDir Path logs) throws Exception {
    String schema = "outbox_atomikos_" + UUID.randomUUID().toString().substring(0, 8);
    System.setProperty("com.atomikos.icatch.log_base_dir", logs.toString());
    System.setProperty("com.atomikos.icatch.registered", "true"); // says no more at its start
    UserTransactionManager manager = new UserTransactionManager();
    // Or its close waits for a transaction that an error has left open.
    manager.setForceShutdown(true);
    AtomikosDataSourceBean dataSource = new AtomikosDataSourceBean();
    try (DatabaseServer server = DatabaseServer.postgres()) {
      PGSimpleDataSource plain = new PGSimpleDataSource();
      PGXADataSource xa = new PGXADataSource();
      for (var one : new org.postgresql.ds.common.BaseDataSource[] {plain, xa}) {
        one.setUrl(server.jdbcUrl());
        one.setUser(server.user());
        one.setPassword(server.password());
        one.setCurrentSchema(schema);
      }
      dataSource.setUniqueResourceName(schema);
      dataSource.setXaDataSource(xa);
      Jdbi.create(plain).useHandle(handle -> handle.execute("create schema " + schema));
      try {
        PostgresOutboxStore store = PostgresOutboxStore.of(plain);
        store.migrate();
        assertThat(PostgresOutboxStore.of(dataSource).maxConnections())
            .as("too small a pool for a relay, by default")
            .hasValue(1);
        AtomicInteger woken = new AtomicInteger();
        JakartaOutbox outbox =
            JakartaOutbox.of(store, dataSource, new TransactionSynchronizationRegistryImp())
                .withWake(woken::incrementAndGet);
        manager.begin();
        outbox.append(message());
        manager.rollback();
        OutboxMessage message = message();
        manager.begin();
        outbox.append(message);
        manager.commit();
        assertThat(woken).hasValue(1);
        assertThat(RelayOnce.run(store, new RecordingPublisher()).delivered())
            .extracting(StoredMessage::message)
            .containsExactly(message);
      } finally {
        Jdbi.create(plain)
            .useHandle(handle -> handle.execute("drop schema " + schema + " cascade"));
      }
    } finally {
      dataSource.close();
      manager.close();
    }
  }

  private static OutboxMessage message() {
    return OutboxMessage.builder()
        .aggregate("order", "order-1")
        .eventType("OrderPaid")
        .payload("{}")
        .build();
  }
}
