package dev.outbox.spi.store;

import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A store that brings its own schema. */
public interface SchemaStore {

  /** Brings the schema to this library's version; does nothing when it is there already. */
  void migrate();

  /** The statements that {@link #migrate} would run on an empty database, to be run by hand. */
  String ddl();

  /**
   * Checks that the schema is there, of this library's version and whole (E1).
   *
   * @throws dev.outbox.SchemaException saying in one sentence what is wrong and what to do
   */
  void verify();

  /**
   * Where the database finds the tables, as {@code schema public of database app}: for logs and
   * people. Where no schema is chosen, the connection's settings decide.
   *
   * @throws dev.outbox.OutboxException when the database cannot be asked, or the tables are missing
   */
  String place();

  /**
   * The statements that let one user do what an application does and nothing else, and another what
   * runs behind it. Connects to nothing.
   *
   * @param application a plain name of a user or a role, who appends; of an inbox, who handles
   *     messages
   * @param operator a plain name of a user or a role, who runs a relay; of an inbox, who purges
   *     what is no longer needed and counts the rest
   * @return null when the store gives no rights, which is the default
   * @throws IllegalArgumentException when a name is not plain
   */
  default @Nullable String grants(String application, String operator) {
    return null;
  }

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
