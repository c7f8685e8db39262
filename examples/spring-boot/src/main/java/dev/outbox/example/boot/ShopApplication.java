package dev.outbox.example.boot;

import dev.outbox.Appended;
import dev.outbox.JoinedOutbox;
import dev.outbox.publisher.kafka.KafkaPublisher;
import dev.outbox.relay.Relay;
import dev.outbox.store.postgres.PostgresOutboxStore;
import javax.sql.DataSource;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;

/** A shop that appends and relays in one process. */
@SpringBootApplication
public class ShopApplication {

  public static void main(String[] arguments) {
    SpringApplication.run(ShopApplication.class, arguments);
  }

  // tag::beans
  @Bean
  PostgresOutboxStore store(DataSource dataSource) {
    PostgresOutboxStore store = PostgresOutboxStore.of(dataSource);
    store.migrate();
    return store;
  }

  @Bean
  JoinedOutbox outbox(PostgresOutboxStore store, JdbcTemplate jdbc) {
    return store.joining(append -> jdbc.execute((ConnectionCallback<Appended>) append::apply));
  }

  @Bean(destroyMethod = "close")
  KafkaPublisher publisher(@Value("${spring.kafka.bootstrap-servers}") String servers) {
    return KafkaPublisher.builder().property("bootstrap.servers", servers).build();
  }

  @Bean(initMethod = "start", destroyMethod = "close")
  Relay relay(PostgresOutboxStore store, KafkaPublisher publisher) {
    return Relay.builder(store, publisher).build();
  }
  // end::beans
}
