package dev.outbox.store.jdbc.internal;

import dev.outbox.store.core.internal.PrefixedNames;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/** Who needs which rights. */
public record Grants(Server server) {
  /** Who works with the tables of an outbox, and who with those of an inbox. */
  public enum Role {
    PRODUCER,
    RELAY,
    CONSUMER,
    HOUSEKEEPER;

    private String label() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** As the text names it. */
    private String placeholder() {
      return "${" + label() + "}";
    }
  }

  private static final Pattern COMMENT = Pattern.compile("(?m)^--.*$");

  /** Its last part is what rights are given on; errors name that. */
  private static final Pattern GRANT =
      Pattern.compile("(?s)grant (?<rights>.*) on (?:(?<kind>\\w+) )?(?<name>[\\w.]+) to .*");

  /** One of several, on columns or on the whole. */
  private static final Pattern RIGHT = Pattern.compile("(?<right>\\w+)(?: \\((?<columns>.*?)\\))?");

  /** What a text names the user who reads it. */
  private static final String READER = "this user";

  /** Lines about the schema are left out where none is chosen. */
  private String text() {
    String schema = server.names().schema();
    String text = server.grants();
    if (schema == null) {
      text = text.replaceAll("(?m)^.*\\$\\{schema}.*\\R", "");
    }
    return server.names().fill(text).replace("${schema}", String.valueOf(schema));
  }

  /**
   * @param users the name of each role
   */
  public String text(Map<Role, String> users) {
    String text = text();
    for (Map.Entry<Role, String> user : users.entrySet()) {
      Role role = user.getKey();
      text = text.replace(role.placeholder(), PrefixedNames.plain(role.label(), user.getValue()));
    }
    return text;
  }

  /** The statement that gives a role what an error says it lacks, or else where all of them are. */
  String missing(Collection<Role> roles, String error) {
    List<String> missing =
        roles.stream()
            .flatMap(role -> statements(role, READER))
            .filter(grant -> isOn(grant, error))
            .toList();
    return missing.isEmpty()
        ? "give this user what outbox grants prints"
        : missing.stream()
            .collect(Collectors.joining("; ", "run: ", " (outbox grants prints all)"));
  }

  private Stream<String> statements(Role role, String user) {
    return Arrays.stream(COMMENT.matcher(text()).replaceAll("").split(";"))
        .map(grant -> grant.strip().replaceAll("\\s+", " "))
        .filter(grant -> grant.endsWith(" to " + role.placeholder()))
        .map(grant -> grant.replace(role.placeholder(), user));
  }

  /**
   * The statements that would give a session's user what it lacks for a role.
   *
   * @return nothing where the database is not asked
   */
  public Optional<List<String>> lacking(Handle handle, Role role) {
    if (server.hasRight("table") == null) {
      return Optional.empty();
    }
    String user = handle.createQuery("select current_user").mapTo(String.class).one();
    return Optional.of(statements(role, user).filter(grant -> !hasRights(handle, grant)).toList());
  }

  private boolean hasRights(Handle handle, String grant) {
    Matcher on = GRANT.matcher(grant);
    return !on.matches()
        || RIGHT
            .matcher(on.group("rights"))
            .results()
            .allMatch(right -> hasRight(handle, on, right.group(1), right.group(2)));
  }

  private boolean hasRight(Handle handle, Matcher on, String right, @Nullable String columns) {
    String name = on.group("name");
    String kind = on.group("kind") == null ? "table" : on.group("kind");
    return columns == null
        ? handle.select(server.hasRight(kind), name, right).mapTo(Boolean.class).one()
        : Arrays.stream(columns.split(", "))
            .allMatch(
                column ->
                    handle
                        .select(server.hasRight("column"), name, column, right)
                        .mapTo(Boolean.class)
                        .one());
  }

  private static boolean isOn(String grant, String error) {
    Matcher on = GRANT.matcher(grant);
    return on.matches()
        && Pattern.compile("\\b" + on.group("name").replaceFirst(".*\\.", "") + "\\b")
            .matcher(error)
            .find();
  }
}
