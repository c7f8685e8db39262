package dev.outbox.ui;

import static dev.outbox.ui.Fixture.OWN;
import static dev.outbox.ui.Fixture.filled;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.outbox.Archive;
import dev.outbox.spi.store.ArchiveStore.Action;
import dev.outbox.spi.store.ArchiveStore.Entry;
import dev.outbox.spi.store.ArchiveStore.Who;
import dev.outbox.spi.store.PauseStore.Pause;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jsoup.nodes.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("On the page, somebody who may pauses")
class PausingTest {
  private static final String TYPE = "order&<b>";

  private final Fixture outbox = new Fixture(Archive.METADATA, true);

  @AfterEach
  void close() {
    outbox.close();
  }

  private String link(String label) {
    return outbox
        .see("")
        .select("section:has(h2:contains(Pauses)) a:contains(" + label + ")")
        .attr("href");
  }

  @Test
  @DisplayName(
      "one type or all, with a reason, sees it at once, resumes it, and stands in the audit")
  void pausesAndResumes() {
    Document pause = outbox.see(link("Pause…"));
    assertThat(outbox.post("pause", filled(pause, "type", TYPE, "why", "stock taking")).status())
        .isEqualTo(303);
    assertThat(outbox.post("pause", filled(pause, "by", "bob")).headers().get("Location"))
        .isEqualTo("./");
    assertThat(outbox.store.pauses())
        .extracting(Pause::aggregateType, Pause::who, Pause::reason)
        .containsExactlyInAnyOrder(tuple(TYPE, "ann", "stock taking"), tuple(null, "bob", null));
    Document home = outbox.see("");
    assertThat(home.select("#top").text())
        .contains("all messages are paused since ")
        .endsWith(" by bob");
    assertThat(home.text()).contains("outbox resume");
    assertThat(home.select("section:has(h2:contains(Pauses)) p").eachText())
        .hasSize(3)
        .anyMatch(text -> text.contains("aggregate type order&<b> are paused since"));

    String address = home.select("a[href*=type]:contains(Resume)").attr("href");
    Document resume = outbox.see(address);
    assertThat(resume.select("h1").text()).isEqualTo("Resume " + TYPE);
    assertThat(outbox.post("resume", filled(resume, "why", "counted")).status()).isEqualTo(303);
    assertThat(outbox.store.pauses()).extracting(Pause::aggregateType).containsOnlyNulls();
    assertThat(outbox.post("resume", filled(resume)).body()).contains("There is no such pause");
    assertThat(outbox.post("resume", filled(outbox.see(link("Resume…")))).status()).isEqualTo(303);
    assertThat(outbox.store.pauses()).isEmpty();
    assertThat(outbox.see("").select("#top").text()).isEqualTo("nothing to do");
    assertThat(outbox.store.audit(Instant.EPOCH, 10))
        .extracting(Entry::action, Entry::who, Entry::id)
        .containsExactly(
            tuple(Action.PAUSED, "ann", TYPE),
            tuple(Action.PAUSED, "bob", ""),
            tuple(Action.RESUMED, "ann", TYPE),
            tuple(Action.RESUMED, "ann", ""));
  }

  @Test
  @DisplayName("sees it at once, also where a reading from before it ends after it")
  void underWay() throws Exception {
    Map<String, String> pause = filled(outbox.see("pause"));
    CountDownLatch read = new CountDownLatch(1);
    CountDownLatch paused = new CountDownLatch(1);
    outbox.pausesRead =
        () -> {
          read.countDown();
          try {
            paused.await();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        };
    CompletableFuture<PageResponse> before = CompletableFuture.supplyAsync(() -> outbox.get(""));
    try {
      assertThat(read.await(10, TimeUnit.SECONDS)).isTrue();
      assertThat(outbox.post("pause", pause).status()).isEqualTo(303);
    } finally {
      paused.countDown();
    }
    assertThat(before.get(10, TimeUnit.SECONDS).body()).doesNotContain("are paused");
    assertThat(outbox.see("").text()).contains("all messages are paused since");
  }

  @Test
  @DisplayName("by no link, by no form of another site, and with no form for another type")
  void forged() {
    outbox.store.pause("order", Who.named("ann"));
    outbox.store.pause("mail", Who.named("ann"));
    outbox.see("pause?type=bill");
    Map<String, String> resume = filled(outbox.see("resume?type=order"));
    Map<String, String> pause = filled(outbox.see("pause"));
    Map<String, String> foreign = Map.of("host", "localhost:8025", "origin", "http://evil.example");
    assertThat(outbox.ask("POST", "pause", pause, foreign).status()).isEqualTo(403);
    assertThat(outbox.ask("POST", "resume", resume, foreign).status()).isEqualTo(403);
    assertThat(outbox.post("pause", Map.of("type", "bill")).status()).isEqualTo(403);
    assertThat(outbox.post("pause", resume).status()).isEqualTo(403);
    resume.put("type", "mail");
    assertThat(outbox.post("resume", resume).status()).isEqualTo(403);
    assertThat(outbox.store.pauses()).hasSize(2);
  }

  @Test
  @DisplayName("nothing where changes are not allowed")
  void refused() {
    try (Fixture shown = Fixture.readOnly()) {
      shown.store.pause("order", Who.named("ann"));
      assertThat(shown.see("").select("a:contains(Resume), a:contains(Pause)")).isEmpty();
      assertThat(shown.see("").text()).contains("aggregate type order are paused");
      assertThat(shown.get("pause").status()).isEqualTo(403);
      assertThat(shown.ask("POST", "resume", Map.of("type", "order"), OWN).status()).isEqualTo(403);
      assertThat(shown.store.pauses()).hasSize(1);
    }
  }
}
