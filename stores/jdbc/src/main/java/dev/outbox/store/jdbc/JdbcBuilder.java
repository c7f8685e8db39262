package dev.outbox.store.jdbc;

import static java.util.Objects.requireNonNull;

import dev.outbox.store.core.internal.PrefixedNames;
import java.util.function.Function;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The settings that outboxes and inboxes have in common.
 *
 * @param <S> what it builds
 * @param <B> itself
 */
abstract class JdbcBuilder<S, B extends JdbcBuilder<S, B>> {
  final DataSource dataSource;
  private final Function<B, S> build;
  private @Nullable String schema;
  private String prefix;

  JdbcBuilder(DataSource dataSource, String prefix, Function<B, S> build) {
    this.dataSource = requireNonNull(dataSource, "dataSource");
    this.prefix = prefix;
    this.build = build;
  }

  /** Default: null, the connection's current schema. */
  public final B schema(@Nullable String schema) {
    this.schema = schema;
    return self();
  }

  /** Before each table's name. Default: {@code outbox_}, of an inbox {@code inbox_}. */
  public final B prefix(String prefix) {
    this.prefix = prefix;
    return self();
  }

  final PrefixedNames names() {
    return new PrefixedNames(schema, prefix);
  }

  /**
   * Does not connect yet.
   *
   * @throws IllegalArgumentException naming the setting, its value and what is allowed
   */
  public final S build() {
    return build.apply(self());
  }

  @SuppressWarnings("unchecked")
  final B self() {
    return (B) this;
  }
}
