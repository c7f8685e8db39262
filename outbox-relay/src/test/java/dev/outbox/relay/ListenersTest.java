package dev.outbox.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ListenersTest {

  @Test
  void anEventReachesEachListenerWhateverAnotherThrows() {
    List<RelayEvent> told = new ArrayList<>();
    RelayListener throwing =
        event -> {
          throw new AssertionError("a bug in a listener");
        };
    RelayEvent event = new RelayEvent.BreakerClosed("relay");
    new Listeners(List.of(throwing, told::add)).on(event);
    assertThat(told).containsExactly(event);
  }
}
