package dev.outbox.spi.store;

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
   * @throws dev.outbox.OutboxException when the database cannot be asked, or they are missing
   */
  String place();
}
