package dev.outbox.store.sqlserver;

import java.sql.Types;
import org.jdbi.v3.core.argument.AbstractArgumentFactory;
import org.jdbi.v3.core.argument.Argument;
import org.jdbi.v3.core.config.ConfigRegistry;

/**
 * Binds texts as nvarchar, also where the connection's sendStringParametersAsUnicode is off: a key
 * that went through a code page would be another key.
 */
final class UnicodeArguments extends AbstractArgumentFactory<String> {
  UnicodeArguments() {
    super(Types.NVARCHAR);
  }

  @Override
  protected Argument build(String value, ConfigRegistry config) {
    return (position, statement, context) -> statement.setNString(position, value);
  }
}
