package dev.outbox.store.mysql;

import dev.outbox.store.jdbc.HousekeepingTests;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@ParameterizedClass
@EnumSource
@DisplayName("Housekeeping")
class MysqlHousekeepingTest extends HousekeepingTests {
  MysqlHousekeepingTest(Tested tested) {
    super(tested);
  }
}
