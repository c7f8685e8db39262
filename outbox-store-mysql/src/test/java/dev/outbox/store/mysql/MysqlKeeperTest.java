package dev.outbox.store.mysql;

import com.zaxxer.hikari.HikariConfig;
import dev.outbox.store.jdbc.KeeperTests;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@ParameterizedClass
@EnumSource
@DisplayName("What a relay holds")
class MysqlKeeperTest extends KeeperTests {
  private final Flavor flavor;

  MysqlKeeperTest(Tested tested) {
    super(tested);
    flavor = tested.flavor;
  }

  @Override
  protected void makeUnusual(HikariConfig config) {
    config.setConnectionInitSql("set session " + flavor.isolation + " = 'SERIALIZABLE'");
  }

  @Override
  protected String delayedUntilNow() {
    return "status = 'SCHEDULED', available_at = utc_timestamp(6), place = default";
  }
}
