package dev.outbox.store.mongo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import com.mongodb.MongoCommandException;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import dev.outbox.Archive;
import dev.outbox.store.core.internal.PrefixedNames;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.bson.BsonDocument;
import org.bson.BsonValue;
import org.bson.Document;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The grants")
class GrantsTest {
  private static final int UNAUTHORIZED = 13;
  private static final int COMMAND_NOT_FOUND = 59;

  /** Nobody is asked: there need be no server. */
  private static String grants(String producer, String relay) {
    try (MongoClient client = MongoClients.create("mongodb://localhost:1")) {
      return new Schema(client, "app", CollectionKind.OUTBOX, new PrefixedNames(null, "x_"))
          .grants(Map.of("producer", producer, "relay", relay));
    }
  }

  /** What a script gives, a line each; roles have no others in them. */
  private static List<String> lines(String script) {
    List<String> lines = new ArrayList<>();
    for (BsonDocument command : TestDatabase.commands(script)) {
      if (command.containsKey("createRole")) {
        assertThat(command.getArray("roles")).isEmpty();
      }
      for (BsonValue value : command.getArray("privileges")) {
        BsonDocument resource = value.asDocument().getDocument("resource");
        lines.add(
            "%s on %s.%s: %s"
                .formatted(
                    command.getString(command.getFirstKey()).getValue(),
                    resource.getString("db").getValue(),
                    resource.getString("collection").getValue(),
                    value.asDocument().getArray("actions").stream()
                        .map(action -> action.asString().getValue())
                        .collect(Collectors.joining(", "))));
      }
    }
    return lines;
  }

  @Test
  @DisplayName("let a producer append, and a relay claim, settle and tidy up, and nothing else")
  void privileges() {
    assertThat(lines(grants("shop", "mail")))
        .containsExactly(
            "shop on app.x_message: insert",
            "shop on app.x_dedup: find, insert, update",
            "shop on app.x_schema: find",
            "mail on app.x_message: find, update, remove, listIndexes",
            "mail on app.x_blocked_key: find, insert, update, remove, listIndexes",
            "mail on app.x_bucket: find, insert, update",
            "mail on app.x_dedup: find, remove",
            "mail on app.x_pause: find, insert, update, remove",
            "mail on app.x_schema: find");
  }

  @Test
  @DisplayName("of an archive let a relay insert and look, and neither change nor delete")
  void archivePrivileges() {
    try (MongoClient client = MongoClients.create("mongodb://localhost:1")) {
      MongoOutboxStore.Builder store = MongoOutboxStore.builder(client, "app").prefix("x_");
      List<String> without = lines(store.build().grants("shop", "mail"));
      assertThat(without).isEqualTo(lines(grants("shop", "mail")));
      assertThat(lines(store.archive(Archive.METADATA).build().grants("shop", "mail")))
          .startsWith(without.toArray(String[]::new))
          .endsWith(
              "mail on app.x_archive_message: find, insert, listIndexes",
              "mail on app.x_archive_audit: find, insert, listIndexes",
              "mail on app.x_archive_schema: find")
          .hasSize(without.size() + 3);
    }
  }

  @Test
  @DisplayName("of an inbox give a consumer no right to forget, and housekeeping none to record")
  void inboxPrivileges() {
    try (MongoClient client = MongoClients.create("mongodb://localhost:1")) {
      assertThat(lines(MongoInboxStore.of(client, "app").grants("shop", "sweep")))
          .containsExactly(
              "shop on app.inbox_message: find, insert, update, listIndexes",
              "shop on app.inbox_schema: find",
              "sweep on app.inbox_message: find, remove, listIndexes",
              "sweep on app.inbox_schema: find");
    }
  }

  @Test
  @DisplayName("are for plain names only")
  void names() {
    assertThatThrownBy(() -> grants("shop\" });", "mail"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("producer 'shop\" });' is not a plain name");
    assertThatThrownBy(() -> grants("shop", "Mail"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("relay 'Mail' is not a plain name");
  }

  @Test
  @DisplayName("are commands that the server takes")
  void accepted() {
    try (TestDatabase database = TestDatabase.open()) {
      MongoOutboxStore store =
          MongoOutboxStore.builder(database.client, database.database.getName())
              .archive(Archive.FULL)
              .build();
      store.migrate();
      String grants = store.grants("shop", "mail");
      try {
        database.run(grants);
      } catch (MongoCommandException e) {
        assumeFalse(
            e.getErrorCode() == UNAUTHORIZED || e.getErrorCode() == COMMAND_NOT_FOUND,
            () -> "roles cannot be made here: " + e.getErrorMessage());
        throw e;
      }
      database.database.runCommand(new Document("dropAllRolesFromDatabase", 1));
    }
  }
}
