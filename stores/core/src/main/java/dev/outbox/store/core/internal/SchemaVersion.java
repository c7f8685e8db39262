package dev.outbox.store.core.internal;

import dev.outbox.SchemaException;
import org.jspecify.annotations.Nullable;

/** What is said of a schema that this library does not work with (E1). */
public final class SchemaVersion {

  /** What makes the schema of an outbox. */
  public static final String MIGRATE = "outbox migrate";

  /** What makes the schema of an inbox. */
  public static final String MIGRATE_INBOX = MIGRATE + " --inbox";

  /** What makes the schema of an archive, beside that of its outbox. */
  public static final String MIGRATE_ARCHIVE = MIGRATE + " --archive=full";

  private SchemaVersion() {}

  /**
   * Refuses a version that is older or newer.
   *
   * @param schema the table or collection with the version, by its full name
   * @param migrate the command that makes it
   */
  public static void check(String schema, int version, int needed, String migrate) {
    if (version < needed) {
      throw new SchemaException(
          "the schema of %s has version %s, this library needs %s: migrate the database (%s, or migrate() of the store)"
              .formatted(schema, version, needed, migrate));
    }
    if (version > needed) {
      throw new SchemaException(
          "the schema of %s has version %s, this library knows only %s: use a newer release of the library"
              .formatted(schema, version, needed));
    }
  }

  /**
   * There is no such thing.
   *
   * @param what as {@code table outbox_schema}
   * @param migrate the command that makes it
   */
  public static SchemaException missing(String what, String migrate, @Nullable Throwable cause) {
    return new SchemaException(
        "there is no %s: migrate the database first (%s, or migrate() of the store)"
            .formatted(what, migrate),
        cause);
  }
}
