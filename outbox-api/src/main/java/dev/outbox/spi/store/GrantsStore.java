package dev.outbox.spi.store;

/** A store whose database gives rights to users. */
public interface GrantsStore {

  /**
   * The statements that let one user append and nothing else, and another be a relay. Connects to
   * nothing.
   *
   * @param producer a plain name of a user or a role
   * @param relay the same
   * @throws IllegalArgumentException when a name is not plain
   */
  String grants(String producer, String relay);
}
