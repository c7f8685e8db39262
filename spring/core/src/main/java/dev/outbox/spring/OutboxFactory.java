package dev.outbox.spring;

import javax.sql.DataSource;

/**
 * Makes further outboxes, one for a data source, as the auto-configuration makes the first: by the
 * same properties. A bean where there is JDBC. Each outbox is to be a bean of its own, which no one
 * gets unasked:
 *
 * <pre>{@code
 * @Qualifier("billing")
 * @Bean(defaultCandidate = false)
 * DataSourceOutbox billingOutbox(
 *     OutboxFactory outboxes, @Qualifier("billing") DataSource dataSource) {
 *   return outboxes.of(dataSource);
 * }
 * }</pre>
 */
public interface OutboxFactory {

  /**
   * An outbox in this data source. Its relay has a publisher of its own, by the properties. Where
   * the publisher is a bean of the application, all relays share it. Then it gets a key from two
   * relays at the same time, if two databases have that key.
   *
   * @param relay changes the relay after the {@link RelayCustomizer} beans, which are for all
   * @throws dev.outbox.OutboxException when the database does not answer, or has no tables
   */
  DataSourceOutbox of(DataSource dataSource, RelayCustomizer... relay);
}
