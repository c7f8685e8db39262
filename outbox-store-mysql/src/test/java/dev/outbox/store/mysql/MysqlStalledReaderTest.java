package dev.outbox.store.mysql;

import dev.outbox.store.jdbc.StalledReaderTests;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@ParameterizedClass
@EnumSource
class MysqlStalledReaderTest extends StalledReaderTests {
  MysqlStalledReaderTest(Tested tested) {
    super(tested);
  }
}
