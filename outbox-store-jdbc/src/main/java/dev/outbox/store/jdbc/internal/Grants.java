package dev.outbox.store.jdbc.internal;

import dev.outbox.store.core.internal.Names;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Who needs which rights. */
public final class Grants {
  /** The two roles, as the text names them. */
  public enum Role {
    PRODUCER("${producer}"),
    RELAY("${relay}");

    private final String name;

    Role(String name) {
      this.name = name;
    }
  }

  private static final Pattern COMMENT = Pattern.compile("(?m)^--.*$");

  /** Its last part is what rights are given on; errors name that. */
  private static final Pattern GRANT = Pattern.compile("(?s)grant .* on (?:\\w+ )?([\\w.]+) to .*");

  private final SqlDialect dialect;
  private final Names names;

  Grants(SqlDialect dialect, Names names) {
    this.dialect = dialect;
    this.names = names;
  }

  /** Lines about the schema are left out where none is chosen. */
  private String text() {
    String schema = names.schema();
    String text = dialect.grants();
    if (schema == null) {
      text = text.replaceAll("(?m)^.*\\$\\{schema}.*\\R", "");
    }
    return names.fill(text).replace("${schema}", String.valueOf(schema));
  }

  public String text(String producer, String relay) {
    return text()
        .replace(Role.PRODUCER.name, Names.plain("producer", producer))
        .replace(Role.RELAY.name, Names.plain("relay", relay));
  }

  /** The statement that gives a role what an error says it lacks, or else where all of them are. */
  String missing(Role role, String error) {
    List<String> missing =
        Arrays.stream(COMMENT.matcher(text()).replaceAll("").split(";"))
            .map(grant -> grant.strip().replaceAll("\\s+", " "))
            .filter(grant -> grant.endsWith(" to " + role.name) && isOn(grant, error))
            .map(grant -> grant.replace(role.name, "this user"))
            .toList();
    return missing.isEmpty()
        ? "give this user what ./outbox grants prints"
        : missing.stream()
            .collect(Collectors.joining("; ", "run: ", " (./outbox grants prints all)"));
  }

  private static boolean isOn(String grant, String error) {
    Matcher on = GRANT.matcher(grant);
    return on.matches()
        && Pattern.compile("\\b" + on.group(1).replaceFirst(".*\\.", "") + "\\b")
            .matcher(error)
            .find();
  }
}
