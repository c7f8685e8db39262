package dev.outbox.store.mysql;

import java.sql.SQLException;
import java.sql.Statement;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.ParsedParameters;
import org.jdbi.v3.core.statement.ParsedSql;
import org.jdbi.v3.core.statement.Query;
import org.jdbi.v3.core.statement.SqlParser;
import org.jdbi.v3.core.statement.SqlStatements;
import org.jdbi.v3.core.statement.StatementContext;
import org.jdbi.v3.core.statement.TemplateEngine;
import org.jdbi.v3.core.transaction.TransactionException;

/**
 * Statements whose text differs from call to call: they are not parsed, and not kept, in search of
 * named parameters, nor filled in. A question mark in one is a parameter.
 */
final class UnparsedSql implements SqlParser {
  private static final SqlParser PARSER = new UnparsedSql();

  private UnparsedSql() {}

  static Query query(Handle handle, String sql) {
    return handle
        .createQuery(sql)
        .configure(
            SqlStatements.class, c -> c.setSqlParser(PARSER).setTemplateEngine(TemplateEngine.NOP));
  }

  /**
   * Without parameters: the driver would look for them from the first to the last character.
   *
   * @return how many rows it changed
   */
  static int update(Handle handle, String sql) {
    try (Statement statement = handle.getConnection().createStatement()) {
      return statement.executeUpdate(sql);
    } catch (SQLException e) {
      throw new TransactionException(e);
    }
  }

  @Override
  public ParsedSql parse(String sql, StatementContext context) {
    int parameters = (int) sql.chars().filter(c -> c == '?').count();
    return ParsedSql.of(sql, ParsedParameters.positional(parameters));
  }

  @Override
  public String nameParameter(String rawName, StatementContext context) {
    throw new UnsupportedOperationException("an unparsed statement has no names");
  }
}
