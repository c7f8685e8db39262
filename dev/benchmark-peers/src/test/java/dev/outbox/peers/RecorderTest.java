package dev.outbox.peers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class RecorderTest {
  private static Recorder open(int failEach) {
    Recorder recorder = new Recorder(failEach);
    recorder.open();
    return recorder;
  }

  private static void accept(Recorder recorder, String key, int... numbers) {
    for (int number : numbers) {
      recorder.accept(OrderPlaced.of(key, number));
    }
  }

  @Test
  @DisplayName("keys are apart: only a later message of its own key comes before one")
  void order() {
    Recorder recorder = open(0);
    accept(recorder, "a", 0, 1);
    accept(recorder, "b", 0);
    accept(recorder, "a", 2);
    accept(recorder, "b", 1);
    assertThat(recorder.outOfOrder()).isZero();
    assertThat(recorder.arrived()).isEqualTo(5);
    assertThat(recorder.times()).hasSize(5).containsKey(OrderPlaced.of("b", 1).id());
  }

  @Test
  @DisplayName("each message that comes after a later one counts, however long after")
  void outOfOrder() {
    Recorder recorder = open(0);
    accept(recorder, "a", 0, 3, 1, 2, 4);
    assertThat(recorder.outOfOrder()).isEqualTo(2);
    assertThat(recorder.arrived()).isEqualTo(5);
  }

  @Test
  @DisplayName("a message that comes again is no new one, and breaks no order")
  void twice() {
    Recorder recorder = open(0);
    accept(recorder, "a", 0, 1, 0, 1);
    assertThat(recorder.twice()).isEqualTo(2);
    assertThat(recorder.arrived()).isEqualTo(2);
    assertThat(recorder.outOfOrder()).isZero();
  }

  @Test
  @DisplayName("what is refused has not arrived, and is taken the second time")
  void refused() {
    Recorder recorder = open(2);
    accept(recorder, "a", 0);
    assertThatThrownBy(() -> accept(recorder, "a", 1)).isInstanceOf(Recorder.Refused.class);
    assertThat(recorder.arrived()).isEqualTo(1);
    accept(recorder, "a", 2, 1);
    assertThat(recorder.arrived()).isEqualTo(3);
    assertThat(recorder.outOfOrder()).isEqualTo(1);
  }

  @Test
  @DisplayName("messages wait at the gate; after the end none is taken")
  void gate() throws InterruptedException {
    Recorder recorder = new Recorder(0);
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
