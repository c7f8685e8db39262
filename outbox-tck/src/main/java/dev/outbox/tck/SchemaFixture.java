package dev.outbox.tck;

/** Unlocks the tests of a schema that is missing, of another version or damaged (E1). */
public interface SchemaFixture {

  /** Drops everything the store made in the database. */
  void dropSchema();

  /** Makes the schema say that it is of a version before this library's. */
  void makeSchemaOlder();

  /** Makes the schema say that it is of a version after this library's. */
  void makeSchemaNewer();

  /** Empties the tables in which the store keeps rows of its own, as test cleaners do. */
  void emptyInternalRows();

  /** Makes the schema whole again, whatever was done to it. */
  void restoreSchema();
}
