package dev.outbox.peers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class RecorderTest {
  private static void accept(Recorder recorder, String key, int... numbers) {
    for (int number : numbers) {
      recorder.accept(OrderPlaced.of(key, number));
    }
  }

  @Test
  @DisplayName("what is refused has not arrived, and is taken the second time")
  void refused() {
    Recorder recorder = Recorder.opened(Recorder.refusingEach(2));
    accept(recorder, "a", 0);
    assertThatThrownBy(() -> accept(recorder, "a", 1)).isInstanceOf(Recorder.Refused.class);
    assertThat(recorder.arrived()).isEqualTo(1);
    accept(recorder, "a", 2, 1);
    assertThat(recorder.arrived()).isEqualTo(3);
    assertThat(recorder.outcome().outOfOrder()).isEqualTo(1);
  }

  @Test
  @DisplayName("messages wait at the gate; after the end none is taken")
  void gate() throws InterruptedException {
    Recorder recorder = new Recorder(message -> {});
    assertThat(recorder.awaitCall(Duration.ZERO)).isFalse();
    Thread early = new Thread(() -> accept(recorder, "a", 0));
    early.start();
    assertThat(recorder.awaitCall(Duration.ofMinutes(1))).isTrue();
    assertThat(recorder.arrived()).isZero();
    recorder.open();
    early.join();
    assertThat(recorder.arrived()).isEqualTo(1);
    recorder.close();
    assertThatThrownBy(() -> accept(recorder, "a", 1)).isInstanceOf(Recorder.Refused.class);
    assertThat(recorder.arrived()).isEqualTo(1);
  }
}
