package dev.outbox.store.mongo;

import static java.util.stream.Collectors.joining;

import dev.outbox.store.core.internal.PrefixedNames;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.bson.BsonDocument;

/**
 * What Liquibase runs, read without Liquibase.
 *
 * @param parameters what it has between ${ and }
 */
record Changelog(CollectionKind contents, Map<String, String> parameters) {

  /** A comment of the XML, or a command. */
  private static final Pattern PART = Pattern.compile("(?s)<!--(.*?)-->|<!\\[CDATA\\[(.*?)]]>");

  static Changelog of(CollectionKind contents, PrefixedNames names) {
    return new Changelog(contents, Map.of("p", names.prefix()));
  }

  /** Of an archive. */
  static Changelog of(PrefixedNames names, long seconds) {
    return new Changelog(
        CollectionKind.ARCHIVE, Map.of("p", names.prefix(), "seconds", Long.toString(seconds)));
  }

  /** Its commands and comments, as a script for mongosh. */
  String script() {
    return parts().map(Changelog::scripted).collect(joining()).strip() + "\n";
  }

  /** Its commands; each may be run again. */
  List<BsonDocument> commands() {
    return parts()
        .map(part -> part.group(2))
        .filter(Objects::nonNull)
        .map(BsonDocument::parse)
        .toList();
  }

  private Stream<MatchResult> parts() {
    String xml = PrefixedNames.resource(Changelog.class, contents.changelog);
    for (Map.Entry<String, String> parameter : parameters.entrySet()) {
      xml = xml.replace("${" + parameter.getKey() + "}", parameter.getValue());
    }
    return PART.matcher(xml).results();
  }

  private static String scripted(MatchResult part) {
    String comment = part.group(1);
    return comment == null
        ? "db.runCommand(%s);\n".formatted(part.group(2).stripTrailing().stripIndent().strip())
        : comment
            .strip()
            .lines()
            .map(line -> "// " + line.strip())
            .collect(joining("\n", "\n", "\n"));
  }
}
