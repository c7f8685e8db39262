package dev.outbox.spring.test;

import dev.outbox.payload.OutboxEvent;
import dev.outbox.spring.Servers;
import dev.outbox.spring.Servers.Schema;
import java.math.BigDecimal;
import java.sql.SQLException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** An empty schema on the server of all tests, as the data source of a test's context. */
@ExtendWith(Servers.Resolver.class)
abstract class Place {
  private static Schema schema;

  @OutboxEvent(aggregate = "order", key = "id")
  record OrderPlaced(String id, BigDecimal total) {}

  @BeforeAll
  static void schema(Servers servers) throws SQLException {
    schema = servers.schema();
  }

  @DynamicPropertySource
  static void dataSource(DynamicPropertyRegistry registry) {
    registry.add("spring.datasource.url", () -> schema.url());
    registry.add("spring.datasource.username", () -> schema.user());
    registry.add("spring.datasource.password", () -> schema.password());
    registry.add("spring.jpa.hibernate.ddl-auto", () -> "update");
    registry.add("spring.flyway.enabled", () -> false);
  }
}
