package dev.outbox.store.sqlserver;

import dev.outbox.Archive;
import dev.outbox.spi.store.InspectionStore.Query;
import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.store.core.internal.PrefixedNames;
import dev.outbox.store.jdbc.internal.InboxTexts;
import dev.outbox.store.jdbc.internal.InspectionTexts;
import dev.outbox.store.jdbc.internal.Server;
import dev.outbox.store.jdbc.internal.SqlAdministration;
import dev.outbox.store.jdbc.internal.TableKind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** All texts that are sent to a server. */
final class Texts {
  private static final PrefixedNames NAMES =
      new PrefixedNames("shop", PrefixedNames.DEFAULT_PREFIX);
  private static final PrefixedNames INBOX = new PrefixedNames("shop", PrefixedNames.INBOX_PREFIX);

  private Texts() {}

  /** Each statement by its name, those of the archive and of the inbox last. */
  static Map<String, String> statements() {
    Map<String, String> statements = outboxStatements();
    statements.putAll(inspectionStatements());
    archiveStatements().forEach((name, sql) -> statements.put("ARCHIVE " + name, sql));
    inboxStatements().forEach((name, sql) -> statements.put("INBOX " + name, sql));
    return statements;
  }

  /** Each statement of the inbox by its name. */
  static Map<String, String> inboxStatements() {
    Server server = new SqlServerServer(INBOX, TableKind.INBOX);
    InboxTexts texts = SqlServerInboxTexts.TEXTS;
    Map<String, String> statements = new LinkedHashMap<>();
    statements.put("INSERT", texts.insert());
    statements.put("FIND", texts.find());
    statements.put("UPDATE", texts.update());
    statements.put("TAKE_OVER", texts.update() + " and " + texts.lockIsOver());
    statements.put("EXPIRED", texts.expired());
    statements.put("DELETE", texts.delete());
    statements.put("STATISTICS", texts.statistics());
    statements.replaceAll((name, sql) -> server.fill(sql));
    return statements;
  }

  /** Each statement of the archive by its name. */
  static Map<String, String> archiveStatements() {
    SqlServerArchive archive = new SqlServerArchive(Archive.FULL);
    Server server = new SqlServerServer(NAMES, TableKind.OUTBOX_WITH_ARCHIVE);
    Map<String, String> statements = new LinkedHashMap<>();
    statements.put("COPY", archive.copy());
    statements.put("FIND", archive.archived().replace("${and}", ""));
    statements.put(
        "FIND_MORE",
        archive
            .archived()
            .replace(
                "${and}",
                " and " + archive.is("${messageKey}", "key") + " and " + archive.after()));
    statements.put("DEAD_LETTER", archive.archiveDeadLetter());
    statements.put("NOTE_DEAD_LETTER", archive.noteDeadLetter());
    statements.put("NOTE", archive.note());
    statements.put("AUDIT", archive.audit());
    statements.put("PURGE", SqlServerArchive.PURGE);
    statements.replaceAll((name, sql) -> server.fill(sql));
    return statements;
  }

  /** Each statement by which messages and keys are looked at. */
  static Map<String, String> inspectionStatements() {
    SqlServerInspection texts = new SqlServerInspection(new SqlServerArchive(Archive.NONE));
    Server server = new SqlServerServer(NAMES, TableKind.OUTBOX);
    Query all = Query.first(1);
    Query dead = Query.first(Status.DEAD, 1);
    Query ofKey = new Query(Status.BLOCKED, null, "k", null, null, null, null, null, null, 1);
    Map<String, String> statements = new LinkedHashMap<>();
    Map.of("LIST", all, "LIST_DEAD", dead, "LIST_OF_KEY", ofKey)
        .forEach(
            (name, query) -> {
              statements.put(name, texts.messages(query).replace("${and}", ""));
              statements.put(name + "_END", texts.end(query));
            });
    statements.put("SHOW", texts.message());
    for (InspectionTexts.Keys which : InspectionTexts.Keys.values()) {
      statements.put("KEYS_" + which, texts.keys(which));
    }
    statements.replaceAll((name, sql) -> server.fill(sql));
    return statements;
  }

  /** Each statement of the outbox by its name. */
  static Map<String, String> outboxStatements() {
    Server server = new SqlServerServer(NAMES, TableKind.OUTBOX);
    Map<String, String> statements = new LinkedHashMap<>();
    try {
      for (Class<?> owner :
          List.of(
              SqlServerLeases.class,
              SqlServerServer.class,
              SqlServerReads.class,
              SqlServerWrites.class,
              SqlAdministration.class,
              SqlServerAdministration.class,
              Append.class)) {
        for (Field field : owner.getDeclaredFields()) {
          if (field.getType() == String.class && Modifier.isStatic(field.getModifiers())) {
            field.setAccessible(true);
            addStatement(statements, field.getName(), server.fill((String) field.get(null)));
          }
        }
      }
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
    return statements;
  }

  /** Parts of statements have no verb in front, or something that is not filled in yet. */
  private static void addStatement(Map<String, String> statements, String name, String sql) {
    if (sql.matches("(?s)(select|insert|update|delete)\\b.*") && !sql.contains("${")) {
      statements.put(name, sql);
    }
  }

  /** The statements of a script of ours, without comments. */
  static List<String> script(String name) {
    PrefixedNames names =
        switch (name) {
          case "archive-changelog.sql" -> NAMES.archive();
          case "inbox-changelog.sql", "inbox-grants.sql" -> INBOX;
          default -> NAMES;
        };
    String text =
        names
            .fill(PrefixedNames.resource(SqlServerOutboxStore.class, name))
            .replaceAll("\\$\\{(producer|relay|consumer|housekeeper)\\}", "$1");
    return split(text);
  }

  /** The statements of a script, without comments. */
  static List<String> split(String text) {
    return Arrays.stream(text.replaceAll("(?m)^\\s*--.*$", "").split(";"))
        .map(String::strip)
        .filter(statement -> !statement.isEmpty())
        .toList();
  }

  /** The examples for SQL Server in the documentation. */
  static String plainSql() {
    try {
      StringBuilder blocks = new StringBuilder();
      for (String page : List.of("plain-sql.md", "databases.md")) {
        String text = Files.readString(Path.of("../docs", page));
        int from = text.indexOf("\n## SQL Server\n");
        Pattern.compile("```sql\n(.*?)```", Pattern.DOTALL)
            .matcher(text)
            .region(from, text.indexOf("\n## ", from + 1))
            .results()
            .forEach(block -> blocks.append(block.group(1)));
      }
      return blocks.toString();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
