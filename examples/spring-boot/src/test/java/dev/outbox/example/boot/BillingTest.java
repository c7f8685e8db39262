package dev.outbox.example.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.JoinedOutbox;
import dev.outbox.NoTransactionException;
import dev.outbox.OutboxMessage;
import dev.outbox.spring.DataSourceOutbox;
import dev.outbox.spring.OutboxFactory;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.test.context.ContextConfiguration;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** A second data source, with an outbox of its own. */
@ContextConfiguration(initializers = OnPostgres.class)
@SpringBootTest(webEnvironment = WebEnvironment.NONE, properties = "outbox.relay.enabled=false")
class BillingTest {

  @TestConfiguration(proxyBeanMethods = false)
  static class Billing {
    @Qualifier("billing")
    @Bean(defaultCandidate = false)
    DataSource billingDataSource(Environment environment) {
      String url = environment.getRequiredProperty("spring.datasource.url");
      HikariDataSource pool = new HikariDataSource();
      pool.setJdbcUrl(url + (url.contains("?") ? "&" : "?") + "currentSchema=billing");
      pool.setUsername(environment.getRequiredProperty("spring.datasource.username"));
      pool.setPassword(environment.getRequiredProperty("spring.datasource.password"));
      new JdbcTemplate(pool).execute("create schema if not exists billing");
      return pool;
    }

    @Qualifier("billing")
    @Bean(defaultCandidate = false)
    PlatformTransactionManager billingTransactions(@Qualifier("billing") DataSource dataSource) {
      return new DataSourceTransactionManager(dataSource);
    }

    // tag::billing[]
    @Qualifier("billing")
    @Bean(defaultCandidate = false)
    DataSourceOutbox billingOutbox(
        OutboxFactory outboxes, @Qualifier("billing") DataSource dataSource) {
      return outboxes.of(dataSource, relay -> relay.workers(1));
    }
    // end::billing[]
  }

  @Autowired private JoinedOutbox outbox;

  @Autowired
  @Qualifier("billing")
  private JoinedOutbox billingOutbox;

  @Autowired
  @Qualifier("billing")
  private DataSource billing;

  @Autowired
  @Qualifier("billing")
  private PlatformTransactionManager transactions;

  @Test
  void itJoinsTheTransactionsOfItsDataSource() {
    OutboxMessage message =
        OutboxMessage.builder().aggregate("bill", "1").eventType("Billed").payload("{}").build();
    new TransactionTemplate(transactions)
        .executeWithoutResult(
            status -> {
              billingOutbox.append(message);
              assertThatThrownBy(() -> outbox.append(message))
                  .isInstanceOf(NoTransactionException.class);
            });
    assertThat(
            new JdbcTemplate(billing)
                .queryForList("select aggregate_type from billing.outbox_message", String.class))
        .containsExactly("bill");
  }
}
