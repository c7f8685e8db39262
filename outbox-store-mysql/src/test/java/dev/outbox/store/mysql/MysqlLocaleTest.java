package dev.outbox.store.mysql;

import dev.outbox.store.jdbc.LocaleTests;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@ParameterizedClass
@EnumSource
@DisplayName("The system's language")
class MysqlLocaleTest extends LocaleTests {
  MysqlLocaleTest(Tested tested) {
    super(tested);
  }
}
