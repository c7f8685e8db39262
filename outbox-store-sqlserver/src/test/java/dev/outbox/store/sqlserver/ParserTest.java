package dev.outbox.store.sqlserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.shardingsphere.infra.database.core.type.DatabaseType;
import org.apache.shardingsphere.infra.spi.type.typed.TypedSPILoader;
import org.apache.shardingsphere.sql.parser.api.CacheOption;
import org.apache.shardingsphere.sql.parser.api.SQLParserEngine;
import org.apache.shardingsphere.sql.parser.exception.SQLParsingException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Without a server, a parser of somebody else's at least says what is no T-SQL. */
@DisplayName("A T-SQL parser")
class ParserTest {
  private static final SQLParserEngine PARSER =
      new SQLParserEngine(
          TypedSPILoader.getService(DatabaseType.class, "SQLServer"), new CacheOption(1, 1));

  /**
   * What this parser does not know and T-SQL has, and what stands for it instead so that the rest
   * of the statement is parsed all the same.
   *
   * @param statement as {@link Texts} names it
   * @param reason where T-SQL says that it is right
   */
  private record Unknown(String statement, String text, String instead, String reason) {}

  private static final String TOP =
      "TOP: \"TOP (expression)\", also with columns of an outer query";
  private static final String VALUES = "Table Value Constructor: a derived table in FROM";

  private static final String IN_CHECK = "len\\((\\w+) collate \\w+ \\+";
  private static final String COLLATE = "COLLATE: an operator of expressions";

  private static final List<Unknown> UNKNOWN =
      List.of(
          new Unknown("FIRST_PENDING", "top \\(l.most\\)", "top (?)", TOP),
          new Unknown("READ_PENDING", "top \\(l.most\\)", "top (?)", TOP),
          new Unknown("SIZES_PENDING", "top \\(l.most\\)", "top (?)", TOP),
          new Unknown("READ_SCHEDULED", "top \\(l.most\\)", "top (?)", TOP),
          new Unknown("SIZES_SCHEDULED", "top \\(l.most\\)", "top (?)", TOP),
          new Unknown("READ_BLOCKED", "top \\((l.most|case .* end)\\)", "top (?)", TOP),
          new Unknown(
              "READ_BLOCKED",
              "over \\([^)]*\\)",
              "",
              "OVER: \"<aggregate> OVER ( [ PARTITION BY ] [ ORDER BY ] [ ROWS ] )\""),
          new Unknown(
              "READ_BLOCKED",
              "option \\(max_grant_percent = 1\\)",
              "",
              "Query hints: \"MAX_GRANT_PERCENT = percent\""),
          new Unknown(
              "PURGE_DEDUP",
              "with \\(readpast +readcommittedlock\\)",
              "",
              "DELETE: \"[ WITH ( <Table_Hint_Limited> ) ]\""),
          new Unknown(
              "ARCHIVE COPY",
              "with \\(updlock +forceseek\\)",
              "with (forceseek)",
              "Table hints: \"UPDLOCK\", of a table that is joined"),
          new Unknown(
              "ARCHIVE PURGE",
              "with \\(readpast +readcommittedlock\\)",
              "",
              "DELETE: \"[ WITH ( <Table_Hint_Limited> ) ]\""),
          new Unknown("INBOX UPDATE", " collate \\w+", "", COLLATE),
          new Unknown("INBOX TAKE_OVER", " collate \\w+", "", COLLATE),
          new Unknown("RESTORE_BUCKETS", "\\(values .*\\) n \\(bucket\\)", "n", VALUES),
          new Unknown("LIST", "\\(values .*\\) s \\(status\\)", "s", VALUES),
          new Unknown("LIST_END", "\\(values .*\\) s \\(status\\)", "s", VALUES),
          new Unknown("LIST_END", "top \\(\\? / \\d+\\)", "top (?)", "TOP: \"TOP (expression)\""),
          new Unknown("SHOW", "\\(values .*\\) s \\(status\\)", "s", VALUES),
          new Unknown(
              "SHOW",
              "with \\(nolock(?:[a-z ]|\\(\\w+\\))*\\)(\\s+on)",
              "$1",
              "Table hints: \"NOLOCK\", of a table that is joined"),
          new Unknown("create table shop.outbox_message", IN_CHECK, "len($1 +", COLLATE),
          new Unknown(
              "plain SQL: insert into outbox_message (aggregate_type, aggregate_id, event_type, payload)",
              " collate \\w+",
              "",
              COLLATE),
          new Unknown(
              "plain SQL: declare @id uniqueidentifier = newid()",
              "declare @id uniqueidentifier =",
              "select",
              "DECLARE @local_variable: \"[ = value ]\""),
          new Unknown(
              "plain SQL: if @@rowcount = 1",
              "if @@rowcount = 1",
              "",
              "IF...ELSE: \"IF boolean_expression { sql_statement | statement_block }\""),
          new Unknown(
              "LOCK_DEAD_LETTERS",
              "with \\(updlock( +forceseek +index \\(\\w+\\))\\)",
              "$1",
              "FROM: \"table_or_view_name [ [ AS ] table_alias ] [ WITH ( < table_hint > [ [ , ]...n ] ) ]\""),
          new Unknown("create table shop.outbox_dedup", IN_CHECK, "len($1 +", COLLATE),
          new Unknown("create table shop.inbox_message", IN_CHECK, "len($1 +", COLLATE));

  /** Hints that many statements have; {@code statement} is not looked at. */
  private static final List<Unknown> HINTS =
      List.of(
          new Unknown(
              "", "with \\(forceseek\\)| forceseek", "", "Table hints: \"FORCESEEK [ ( ... ) ]\""),
          new Unknown("", " index \\(\\w+\\)", "", "Table hints: \"INDEX ( <index_value> )\""),
          new Unknown(
              "",
              "option \\(loop join, force order\\)",
              "",
              "Query hints: \"LOOP JOIN\" and \"FORCE ORDER\""));

  private static void parse(String sql) {
    PARSER.parse(prepared(sql), false);
  }

  /** With parameters as the driver sends them, and spaces between hints, which once were usual. */
  private static String prepared(String sql) {
    return Pattern.compile("with \\(((?:[a-z, ]|index \\(\\w+\\))+)\\)")
        .matcher(sql.replaceAll("(?<![:\\w]):[a-zA-Z]+", "?"))
        .replaceAll(match -> "with (" + match.group(1).replace(",", " ") + ")");
  }

  private static List<Unknown> unknown(String statement, String sql) {
    return Stream.concat(
            UNKNOWN.stream().filter(unknown -> unknown.statement().equals(statement)),
            HINTS.stream().filter(hint -> Pattern.compile(hint.text()).matcher(sql).find()))
        .toList();
  }

  static Stream<Arguments> statements() {
    List<Arguments> all = new ArrayList<>();
    Texts.statements().forEach((name, sql) -> all.add(Arguments.of(name, sql)));
    for (String script :
        List.of(
            "changelog.sql",
            "grants.sql",
            "archive-changelog.sql",
            "archive-grants.sql",
            "inbox-changelog.sql",
            "inbox-grants.sql")) {
      for (String sql : Texts.script(script)) {
        all.add(Arguments.of(sql.lines().findFirst().orElseThrow().replaceAll(" \\(.*", ""), sql));
      }
    }
    for (String sql : Texts.split(Texts.plainSql())) {
      all.add(Arguments.of("plain SQL: " + sql.lines().findFirst().orElseThrow(), sql));
    }
    return all.stream();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("statements")
  @DisplayName("accepts each statement, except for what it does not know")
  void accepts(String name, String sql) {
    String known = prepared(sql);
    for (Unknown unknown : unknown(name, known)) {
      String without = known.replaceAll(unknown.text(), unknown.instead());
      assertThat(without).as("%s has %s", name, unknown.text()).isNotEqualTo(known);
      known = without;
    }
    parse(known);
  }

  static Stream<Unknown> listed() {
    return Stream.concat(UNKNOWN.stream(), HINTS.stream().map(ParserTest::somewhere));
  }

  private static Unknown somewhere(Unknown hint) {
    return statements()
        .filter(s -> Pattern.compile(hint.text()).matcher(prepared((String) s.get()[1])).find())
        .map(s -> new Unknown((String) s.get()[0], hint.text(), hint.instead(), hint.reason()))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no statement has " + hint.text()));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("listed")
  @DisplayName("does not know each thing that is listed as such")
  void listIsNeeded(Unknown listed) {
    String sql =
        statements()
            .filter(s -> s.get()[0].equals(listed.statement()))
            .map(s -> prepared((String) s.get()[1]))
            .findFirst()
            .orElseThrow(() -> new AssertionError("no statement " + listed.statement()));
    for (Unknown other : unknown(listed.statement(), sql)) {
      boolean isIt = other.text().equals(listed.text());
      sql = isIt ? sql : sql.replaceAll(other.text(), other.instead());
    }
    String withIt = sql;
    assertThatThrownBy(() -> parse(withIt)).isInstanceOf(SQLParsingException.class);
  }

  /** Else its acceptance would mean nothing. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "LEASE|readpast|readpasst",
        "LEASE|readcommittedlock|readcommitedlock",
        "LEASE|set|",
        "BUCKETS|with \\(nolock\\)|with nolock",
        "BUCKETS|end as free|as free",
        "INSERT|from|form",
        "INSERT|as due|as",
        "ADVANCE|coalesce\\(|coalesce",
        "DELETE|openjson|",
        "FAIL|where|wehre",
        "STATISTICS|,|",
        "INBOX UPDATE|as token|token as",
        "INBOX EXPIRED|order by|order",
      })
  @DisplayName("rejects the same statements with a mistake in them")
  void rejects(String mistake) {
    String[] parts = mistake.split("\\|", -1);
    Map<String, String> statements = Texts.statements();
    String wrong = statements.get(parts[0]).replaceFirst(parts[1], parts[2]);
    assertThat(wrong).isNotEqualTo(statements.get(parts[0]));
    assertThatThrownBy(() -> parse(wrong)).isInstanceOf(SQLParsingException.class);
  }
}
