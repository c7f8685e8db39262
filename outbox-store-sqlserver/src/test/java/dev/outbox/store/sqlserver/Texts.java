package dev.outbox.store.sqlserver;

import dev.outbox.store.jdbc.Names;
import dev.outbox.store.jdbc.Sql;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** All texts that are sent to a server. */
final class Texts {
  static final Names NAMES = new Names("shop", Names.DEFAULT_PREFIX);

  private Texts() {}

  /** Each statement by its name. */
  static Map<String, String> statements() {
    SqlServerStatements all = new SqlServerStatements(NAMES);
    Map<String, String> statements = new LinkedHashMap<>();
    try {
      for (Field field : SqlServerStatements.class.getDeclaredFields()) {
        if (field.getType() == String.class && !Modifier.isStatic(field.getModifiers())) {
          field.setAccessible(true);
          statements.put(field.getName(), (String) field.get(all));
        }
      }
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
    for (Sql sql : Sql.values()) {
      statements.put(sql.name(), all.all.get(sql));
    }
    return statements;
  }

  /** The statements of a script of ours, without comments. */
  static List<String> script(String name) {
    String text =
        NAMES
            .fill(Names.resource(SqlServerOutboxStore.class, name))
            .replace("${producer}", "producer")
            .replace("${relay}", "relay");
    return split(text);
  }

  /** The statements of a script, without comments. */
  static List<String> split(String text) {
    return Arrays.stream(text.replaceAll("(?m)^\\s*--.*$", "").split(";"))
        .map(String::strip)
        .filter(statement -> !statement.isEmpty())
        .toList();
  }
}
