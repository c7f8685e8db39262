package dev.outbox.spi.store;

import java.util.List;
import java.util.Optional;

/** A store, or an inbox, whose database gives rights to users. */
public interface GrantsStore {

  /**
   * The statements that let one user do what an application does and nothing else, and another what
   * runs behind it. Connects to nothing.
   *
   * @param application a plain name of a user or a role, who appends; of an inbox, who handles
   *     messages
   * @param operator the same, who is a relay; of an inbox, who purges what is no longer needed and
   *     counts the rest
   * @throws IllegalArgumentException when a name is not plain
   */
  String grants(String application, String operator);

  /**
   * The statements of {@link #grants} that this store's own user would need as an operator and that
   * have not been run for it, each naming the user.
   *
   * @return nothing when the database is not asked, which is the default
   */
  default Optional<List<String>> missingGrants() {
    return Optional.empty();
  }
}
