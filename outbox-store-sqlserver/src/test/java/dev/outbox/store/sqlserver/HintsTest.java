package dev.outbox.store.sqlserver;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How each statement reads and looks up, which on a server only its plan and its locks show. */
@DisplayName("Every statement")
class HintsTest {
  private static final Pattern TABLE =
      Pattern.compile(
          "(from|join) shop\\.(?:out|in)box_(\\w+)(?: (?!where|with)(\\w+))?(?: with \\(((?:[^()]|\\([^)]*\\))*)\\))?");

  /** A single row, of which no other need be looked at. */
  private static final String BY_WHOLE_KEY =
      "delete from \\S+ where bucket = :bucket and status = N'DEAD' and place = 0x00 and seq = :seq ?";

  static Stream<Arguments> statements() {
    return Texts.statements().entrySet().stream()
        .map(e -> Arguments.of(e.getKey(), e.getValue().replaceAll("\\s+", " ")));
  }

  private static List<MatchResult> tables(String sql) {
    return TABLE.matcher(sql).results().toList();
  }

  private static String hints(MatchResult table) {
    return table.group(4) == null ? "" : table.group(4);
  }

  private static boolean isChanged(String sql, MatchResult table) {
    return sql.startsWith("delete from shop.outbox_" + table.group(2))
        || sql.matches("(delete|update) " + table.group(3) + " .*");
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("statements")
  @DisplayName("says how it reads, so that READ_COMMITTED_SNAPSHOT makes no difference")
  void locks(String name, String sql) {
    assertThat(tables(sql))
        .filteredOn(table -> !isChanged(sql, table))
        .allSatisfy(
            table ->
                assertThat(hints(table))
                    .as("%s of %s", table.group(), name)
                    .containsAnyOf("readcommittedlock", "nolock", "updlock"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("statements")
  @DisplayName("that could wait for producers finds its rows by seeks")
  void seeks(String name, String sql) {
    assertThat(tables(sql))
        .filteredOn(table -> List.of("message", "dedup").contains(table.group(2)))
        .filteredOn(table -> !hints(table).contains("readpast"))
        .filteredOn(table -> !hints(table).contains("nolock"))
        .filteredOn(table -> !sql.matches(BY_WHOLE_KEY))
        .allSatisfy(
            table ->
                assertThat(hints(table)).as("%s of %s", table.group(), name).contains("forceseek"));
    if (sql.matches("(update|delete) m .*") && !name.startsWith("INBOX ")) {
      assertThat(sql)
          .contains("from openjson(:messages)")
          .contains("on m.bucket = l.bucket and m.seq = l.seq")
          .contains("m.status = :was and m.place = :place")
          .doesNotContain(":bucket")
          .endsWith("option (loop join, force order) ");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"READ_PENDING", "READ_SCHEDULED", "READ_BLOCKED"})
  @DisplayName("that reads payloads sorts none: that takes memory for the largest there might be")
  void sorts(String name) {
    String sql = Texts.statements().get(name);
    assertThat(outermost(sql)).contains("select").doesNotContain("order by");
    if (name.equals("READ_BLOCKED")) {
      String sorted = sql.substring(sql.indexOf("from ("), sql.lastIndexOf("outer apply"));
      assertThat(sorted.replace("datalength(m.payload)", ""))
          .contains("over (partition by d.bucket order by d.retry_at, d.key_hash, m.seq")
          .doesNotContain("m.payload", "m.headers");
      assertThat(sql).contains("option (max_grant_percent = 1)");
    }
    if (name.equals("READ_SCHEDULED")) {
      assertThat(sql).as("the index in their order").contains("index (outbox_message_scheduled)");
    }
  }

  private static String outermost(String sql) {
    String without = sql.replaceAll("\\([^()]*\\)", "");
    return without.equals(sql) ? sql : outermost(without);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("statements")
  @DisplayName("compares a time with one of as many digits, so that an index can find it")
  void times(String name, String sql) {
    String known = sql.replace("convert(datetime2(6), sysutcdatetime())", "now");
    assertThat(known)
        .doesNotContainPattern(
            "(available_at|retry_at|expires_at|lock_until|lease_until|created_at|archived_at|last_failed_at)"
                + " [<>]=? (dateadd\\([^<>]*)?sysutcdatetime");
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("statements")
  @DisplayName("locks no table, as a scan of an index without page locks may")
  void scans(String name, String sql) {
    assertThat(tables(sql))
        .filteredOn(table -> table.group(2).equals("message") && !isChanged(sql, table))
        .filteredOn(table -> !hints(table).contains("forceseek"))
        .allSatisfy(
            table ->
                assertThat(hints(table)).as("%s of %s", table.group(), name).contains("nolock"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("statements")
  @DisplayName("lists texts under the tables' collation, with which the database's is in conflict")
  void collations(String name, String sql) {
    assertThat(sql).doesNotContainPattern("\\(values \\(N?'\\w+'\\)");
  }
}
