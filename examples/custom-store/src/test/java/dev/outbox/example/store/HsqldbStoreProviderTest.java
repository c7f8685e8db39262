package dev.outbox.example.store;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Archive;
import dev.outbox.spi.store.StoreProvider.History;
import dev.outbox.spi.store.StoreProvider.Settings;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class HsqldbStoreProviderTest {

  @Test
  @DisplayName("an archive, which this store cannot keep, is refused and not forgotten")
  void keepsNothing() {
    Settings settings =
        new Settings(
            "jdbc:hsqldb:mem:refused",
            "SA",
            "",
            null,
            Settings.DEFAULT_PREFIX,
            null,
            1,
            History.of(Archive.FULL));
    assertThatThrownBy(() -> new HsqldbStoreProvider().open(settings))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("archive is FULL, and the store of HSQLDB keeps none: leave it out");
  }
}
