package dev.outbox.store.redis;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Archive;
import dev.outbox.spi.store.StoreProvider.History;
import dev.outbox.spi.store.StoreProvider.Settings;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class RedisStoreProviderTest {

  static Stream<Arguments> kept() {
    return Stream.of(
        Arguments.of("archive", History.of(Archive.FULL)),
        Arguments.of("archiveRetention", new History(Archive.NONE, Duration.ofDays(1), null)),
        Arguments.of("deadLetterRetention", new History(Archive.NONE, null, Duration.ofDays(1))));
  }

  @ParameterizedTest
  @MethodSource("kept")
  @DisplayName("what is to be kept is refused by its name, before anything connects")
  void keepsNothing(String setting, History history) {
    Settings settings =
        new Settings("redis://127.0.0.1:1", "", "", "shop", "outbox_", null, 1, history);
    assertThatThrownBy(() -> new RedisStoreProvider().open(settings))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith(setting + " is ")
        .hasMessageContaining("the store of Redis");
  }
}
