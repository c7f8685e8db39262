package dev.outbox.cli;

import dev.outbox.spi.store.StoreProvider;
import dev.outbox.spi.store.StoreProvider.History;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Where an outbox is, and who may go there.
 *
 * @param user empty: as the URL says
 * @param password empty: as the URL says
 * @param schema of the tables; null: where the URL leads
 * @param prefix before each table's name
 * @param history what is kept of messages that leave
 */
public record Address(
    String url,
    String user,
    String password,
    @Nullable String schema,
    String prefix,
    History history) {
  public Address {
    Secrets.hide(password);
    Secrets.hideIn(url);
    Secrets.showIn(url);
    Secrets.show(user);
    Secrets.show(schema);
  }

  public Address(String url, String user, String password) {
    this(url, user, password, null, StoreProvider.Settings.DEFAULT_PREFIX);
  }

  public Address(String url, String user, String password, @Nullable String schema, String prefix) {
    this(url, user, password, schema, prefix, History.NONE);
  }

  /** Whether it leads to the same tables, whoever goes there. */
  boolean isSameOutbox(Address other) {
    return url.equals(other.url)
        && Objects.equals(schema, other.schema)
        && prefix.equals(other.prefix);
  }

  StoreProvider.Settings settings(@Nullable Duration dedupWindow, int connections) {
    return new StoreProvider.Settings(
        url, user, password, schema, prefix, dedupWindow, connections, history);
  }

  @Override
  public String toString() {
    return Secrets.mask(url);
  }
}
