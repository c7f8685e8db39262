package dev.outbox.ui;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.relay.Diagnosis;
import dev.outbox.spi.store.Finding;
import dev.outbox.spi.store.Finding.Severity;
import dev.outbox.spi.store.StatisticsStore.Statistics;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The first line")
class HealthTest {
  private static final Statistics NONE = new Statistics(10_000, 0, 0, 0, 0, 0, 0, null, null, null);

  private static Health health(Finding delivery, Finding... others) {
    return Health.of(
        new Diagnosis(Instant.EPOCH, NONE, Optional.empty(), List.of(), delivery, List.of(others)),
        text -> text.replace("geheim", "***"));
  }

  @Test
  @DisplayName("is as good as delivery, and no better than a warning where something is wrong")
  void mood() {
    Finding fine = Finding.fine("delivery", "delivering");
    Finding halted = Finding.problem(Diagnosis.HALTED_KEY, "key a is halted", "decide");
    Finding still = Finding.problem("delivery", "standing still", "start a relay");
    assertThat(health(fine, Finding.fine("clock", "fine")))
        .isEqualTo(new Health(Severity.FINE, "delivering", List.of()));
    assertThat(health(fine, halted).mood()).isEqualTo(Severity.WARNING);
    assertThat(health(still, halted).mood()).isEqualTo(Severity.PROBLEM);
    assertThat(health(still, halted).reasons()).hasSize(2);
    assertThat(health(Finding.warning("delivery", "waiting for a retry", null)).mood())
        .isEqualTo(Severity.WARNING);
  }

  @Test
  @DisplayName("has below it what is wrong, with a link there, what to type, and no secrets")
  void reasons() {
    Health health =
        health(
            Finding.fine("delivery", "delivering"),
            Finding.problem(Diagnosis.HALTED_KEY, "<b> geheim", "outbox keys"),
            Finding.fine("clock", "fine"),
            Finding.warning("settings", "the disk is slow", null));
    assertThat(health.reasons().toString())
        .contains("<a href=\"keys?halted=yes\">halted key</a>: <bdi>&lt;b&gt; ***</bdi>")
        .contains("<em><bdi>outbox keys</bdi></em>")
        .contains("settings: <bdi>the disk is slow</bdi>")
        .doesNotContain("clock");
  }
}
