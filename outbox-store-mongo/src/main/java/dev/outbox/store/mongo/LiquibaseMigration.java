package dev.outbox.store.mongo;

import com.mongodb.MongoCommandException;
import com.mongodb.MongoException;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoDatabase;
import dev.outbox.PermanentOutboxException;
import dev.outbox.store.core.internal.PrefixedNames;
import java.util.Map;
import java.util.UUID;
import liquibase.Contexts;
import liquibase.LabelExpression;
import liquibase.Liquibase;
import liquibase.Scope;
import liquibase.UpdateSummaryEnum;
import liquibase.ext.mongodb.database.MongoConnection;
import liquibase.ext.mongodb.database.MongoLiquibaseDatabase;
import liquibase.resource.ClassLoaderResourceAccessor;
import liquibase.ui.LoggerUIService;

/** The only class that needs Liquibase and its extension. */
final class LiquibaseMigration {
  private static final int NAMESPACE_EXISTS = 48;

  private LiquibaseMigration() {}

  static void run(
      MongoClient client, MongoDatabase database, Changelog changelog, PrefixedNames names) {
    try {
      update(client, database, changelog, names);
    } catch (Exception e) {
      throw new PermanentOutboxException(
          "migration of %s failed: %s".formatted(names.table("*"), said(e).getMessage()), e);
    }
  }

  private static void update(
      MongoClient client, MongoDatabase database, Changelog changelog, PrefixedNames names)
      throws Exception {
    // The caller's client, which stays open. It has no URL, in which a password could stand.
    MongoConnection connection = new MongoConnection();
    connection.setMongoClient(client);
    connection.setMongoDatabase(database);
    MongoLiquibaseDatabase target = new MongoLiquibaseDatabase();
    target.setConnection(connection);
    // One changelog a prefix: in a common one the second outbox in a database fails the checksum
    // validation, because the names are part of the commands.
    target.setDatabaseChangeLogTableName(made(database, names.table("databasechangelog")));
    // The extension's lock is by host: of two on one host, one may wait for minutes for a lock that
    // nobody has. Each has its own, which is none: what the changelog does may be done at once.
    String lock = names.table("databasechangeloglock_") + UUID.randomUUID();
    target.setDatabaseChangeLogLockTableName(made(database, lock));
    try {
      update(target, changelog);
    } finally {
      database.getCollection(lock).drop();
    }
  }

  private static void update(MongoLiquibaseDatabase target, Changelog changelog) throws Exception {
    Scope.child(
        // Its messages go to the log, not to standard output.
        Map.of(Scope.Attr.ui.name(), new LoggerUIService()),
        () -> {
          Liquibase liquibase =
              new Liquibase(
                  "dev/outbox/store/mongo/" + changelog.contents().changelog,
                  new ClassLoaderResourceAccessor(LiquibaseMigration.class.getClassLoader()),
                  target);
          liquibase.setShowSummary(UpdateSummaryEnum.OFF);
          changelog.parameters().forEach(liquibase::setChangeLogParameter);
          liquibase.update(new Contexts(), new LabelExpression());
        });
  }

  /**
   * The collection, which is there now. Liquibase would make it too, but only one of two at once.
   */
  private static String made(MongoDatabase database, String collection) {
    try {
      database.createCollection(collection);
    } catch (MongoCommandException e) {
      if (e.getErrorCode() != NAMESPACE_EXISTS) {
        throw e;
      }
    }
    return collection;
  }

  /** What MongoDB said, if it was MongoDB. */
  private static Throwable said(Exception e) {
    for (Throwable cause = e; cause != null; cause = cause.getCause()) {
      if (cause instanceof MongoException) {
        return cause;
      }
    }
    return e;
  }
}
