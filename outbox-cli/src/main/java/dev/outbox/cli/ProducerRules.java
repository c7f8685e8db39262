package dev.outbox.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import dev.outbox.Texts;
import dev.outbox.publisher.core.JsonText;
import dev.outbox.spi.store.Finding;
import dev.outbox.spi.store.InspectionStore.Inspected;
import dev.outbox.spi.store.InspectionStore.Listed;
import dev.outbox.spi.store.InspectionStore.Status;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The rules of a producer that can be seen in its rows, and what rows break them; {@code
 * docs/plain-sql.md} has all of them. For one thread.
 */
final class ProducerRules {
  /** One of them; its number is that of the page. */
  private enum Rule {
    READABLE(
        1, "the row can be read", "correct what inserts it: a relay makes a dead letter of it"),
    PAYLOAD(
        2,
        "the payload is what content_type says, and text is UTF-8",
        "bind the payload as bytes, or convert the text in the statement"),
    CONTENT_TYPE(3, "content_type is a media type", "write it as application/json"),
    TEXT(
        4,
        "texts and headers arrived as they were",
        "set the connection's character set to UTF-8; what is lost cannot be brought back"),
    KEY(
        5,
        "a key is always written the same way",
        "write it the same way everywhere, or its messages have no order"),
    ID(6, "each message has an id of its own", "leave id to the database, or make a new one"),
    DEDUP_KEY(
        7,
        "a dedup key is on one message",
        "insert the key into the dedup table first, and no message where it is there"),
    DUE(
        8,
        "available_at is a time that comes, before expires_at",
        "leave it out, or give a time before 9999 and before expires_at"),
    COLUMNS(
        9,
        "status, attempts and created_at are the database's",
        "leave them out of the insert; the grants allow no more");

    private final int number;
    private final String words;
    private final String remedy;

    Rule(int number, String words, String remedy) {
      this.number = number;
      this.words = words;
      this.remedy = remedy;
    }
  }

  /** The most rows that a rule names. */
  private static final int MOST_NAMED = 5;

  /** What is further ahead is no difference of clocks. */
  private static final Duration AHEAD = Duration.ofMinutes(5);

  private static final Instant NEVER = Instant.parse("9999-01-01T00:00:00Z");
  private static final String NAME = "[\\w!#$&^.+-]+";
  private static final Pattern MEDIA_TYPE = Pattern.compile(NAME + "/" + NAME + "\\s*(;.*)?");
  private static final Pattern JSON =
      Pattern.compile("(?i)" + NAME + "/(json|" + NAME + "\\+json)\\s*(;.*)?");
  private static final Pattern TEXT = Pattern.compile("(?i)text/" + NAME + "\\s*(;.*)?");
  private static final Pattern CHARSET =
      Pattern.compile("(?i);\\s*charset\\s*=\\s*\"?([^\";\\s]*)");
  private static final Pattern UTF_8_NAME = Pattern.compile("(?i)utf-?8");
  private static final Pattern ESCAPE = Pattern.compile("\\\\(?:u([0-9a-fA-F]{4})|(.))");

  private final Instant now;
  private final Map<Rule, List<String>> broken = new EnumMap<>(Rule.class);
  private final Map<String, Long> ids = new HashMap<>();
  private final Map<String, Long> dedupKeys = new HashMap<>();
  private final Map<String, String> keys = new HashMap<>();

  /**
   * @param now by this machine's clock
   */
  ProducerRules(Instant now) {
    this.now = now;
  }

  /** Looks at a message, and compares it with those before. */
  void look(Inspected inspected) {
    Listed row = inspected.listed();
    String problem = inspected.message().problem();
    Instant due = row.dueAt();
    boolean comes = due == null || due.isBefore(NEVER);
    check(row, Rule.DUE, comes, "is due at " + due);
    Instant over = row.expiresAt();
    boolean isDueInTime = over == null || over.isAfter(due == null ? row.appendedAt() : due);
    check(row, Rule.DUE, isDueInTime, "expires before it is due, at " + over);
    check(row, Rule.READABLE, problem == null || !comes, "cannot be read: " + problem);
    columns(row);
    Long same = ids.putIfAbsent(row.id().toLowerCase(Locale.ROOT), row.sequence());
    check(row, Rule.ID, same == null, "has the id of message " + same);
    String key = row.key();
    String other = keys.putIfAbsent(key.strip().toLowerCase(Locale.ROOT), key);
    check(
        row,
        Rule.KEY,
        other == null || other.equals(key),
        "has the key '%s', and another one '%s'".formatted(key, other));
    if (problem == null) {
      content(row, inspected.message().message());
    }
  }

  private void columns(Listed row) {
    boolean triedOrWaits = row.status() != Status.DEAD || row.attempts() > 0 || row.error() != null;
    check(row, Rule.COLUMNS, triedOrWaits, "is a dead letter that nobody has tried");
    check(
        row,
        Rule.COLUMNS,
        row.appendedAt().isBefore(now.plus(AHEAD)),
        "was appended in the future, at " + row.appendedAt());
  }

  private void content(Listed row, OutboxMessage message) {
    String type = message.contentType();
    check(row, Rule.CONTENT_TYPE, MEDIA_TYPE.matcher(type).matches(), "has '%s'".formatted(type));
    if (JSON.matcher(type).matches()) {
      String json = JsonText.of(message.payload()).orElse(null);
      check(row, Rule.PAYLOAD, json != null, "is no JSON in UTF-8");
      check(
          row,
          Rule.PAYLOAD,
          json == null || !isJsonTwice(json.strip()),
          "is a text in JSON that holds JSON: it was written as JSON twice");
    } else if (TEXT.matcher(type).matches() && namesUtf8(type)) {
      check(row, Rule.PAYLOAD, Texts.utf8(message.payload()).isPresent(), "is no text in UTF-8");
    }
    boolean isWhole =
        Stream.concat(
                Stream.of(
                    message.aggregateType(),
                    message.aggregateId(),
                    message.eventType(),
                    message.key(),
                    String.valueOf(message.correlationId()),
                    String.valueOf(message.dedupKey())),
                message.headers().stream().flatMap(ProducerRules::texts))
            .noneMatch(text -> text.indexOf('\uFFFD') >= 0);
    check(row, Rule.TEXT, isWhole, "has U+FFFD in the place of a character");
    // The key of a dead letter may be used again, when its window has ended.
    String dedupKey = row.status() == Status.DEAD ? null : message.dedupKey();
    Long same = dedupKey == null ? null : dedupKeys.putIfAbsent(dedupKey, row.sequence());
    check(row, Rule.DEDUP_KEY, same == null, "has the dedup key of message " + same);
  }

  private static Stream<String> texts(Header header) {
    return Stream.of(header.name(), header.value());
  }

  /** Whether a text's type says UTF-8, or nothing of its characters. */
  private static boolean namesUtf8(String type) {
    Matcher charset = CHARSET.matcher(type);
    return !charset.find() || UTF_8_NAME.matcher(charset.group(1)).matches();
  }

  /** Whether JSON is a text that holds an object or a list in JSON. */
  private static boolean isJsonTwice(String json) {
    if (!json.startsWith("\"")) {
      return false;
    }
    String held =
        ESCAPE
            .matcher(json.substring(1, json.length() - 1))
            .replaceAll(escape -> Matcher.quoteReplacement(unescaped(escape)))
            .strip();
    return (held.startsWith("{") || held.startsWith("["))
        && JsonText.of(held.getBytes(UTF_8)).isPresent();
  }

  /** The character; of a control character a space, which is as good in what is only parsed. */
  private static String unescaped(MatchResult escape) {
    String code = escape.group(1);
    if (code != null) {
      return String.valueOf((char) Integer.parseInt(code, 16));
    }
    return "\"\\/".contains(escape.group(2)) ? escape.group(2) : " ";
  }

  private void check(Listed row, Rule rule, boolean isKept, Object problem) {
    if (!isKept) {
      broken
          .computeIfAbsent(rule, none -> new ArrayList<>())
          .add("message %s %s".formatted(row.sequence(), problem));
    }
  }

  /** One for each rule. */
  List<Finding> findings() {
    return Stream.of(Rule.values()).map(this::finding).toList();
  }

  private Finding finding(Rule rule) {
    String name = "rule " + rule.number;
    List<String> rows = broken.getOrDefault(rule, List.of());
    if (rows.isEmpty()) {
      return Finding.fine(name, rule.words);
    }
    String named = rows.stream().limit(MOST_NAMED).collect(Collectors.joining("; "));
    int more = rows.size() - MOST_NAMED;
    String sentence = named + (more > 0 ? "; and %s more".formatted(more) : "");
    return rule == Rule.KEY
        ? Finding.warning(name, sentence, rule.remedy)
        : Finding.problem(name, sentence, rule.remedy);
  }
}
