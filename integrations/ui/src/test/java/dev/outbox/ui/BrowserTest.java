package dev.outbox.ui;

import static dev.outbox.ui.Fixture.message;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.outbox.Archive;
import dev.outbox.spi.store.ArchiveStore.Who;
import dev.outbox.spi.store.Decision;
import dev.outbox.store.memory.MemoryOutboxStore;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jsoup.Jsoup;
import org.jsoup.nodes.Document;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** In Chromium: what the browser makes of the policy, the cookie and the script. */
@DisplayName("In a browser")
class BrowserTest {
  @TempDir private Path profile;

  private static Path chromium() {
    return Stream.of("chromium", "chromium-browser", "google-chrome")
        .flatMap(
            name ->
                Stream.of(System.getenv("PATH").split(File.pathSeparator))
                    .map(folder -> Path.of(folder, name)))
        .filter(Files::isExecutable)
        .findFirst()
        .orElseGet(() -> abort("skipped: no chromium is installed (Debian's package chromium)"));
  }

  /** The document as it is after so many milliseconds of the browser's own time. */
  private Document dom(String url, int time) throws IOException, InterruptedException {
    Path dom = profile.resolve("dom.html");
    Path log = profile.resolve("log.txt");
    List<String> command =
        new ArrayList<>(
            List.of(
                chromium().toString(),
                "--headless=new",
                "--no-sandbox", // or root is refused
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--disable-background-networking",
                "--enable-logging=stderr",
                "--user-data-dir=" + profile.resolve("profile"),
                "--virtual-time-budget=" + time,
                "--dump-dom",
                url));
    Process browser =
        new ProcessBuilder(command)
            .redirectOutput(dom.toFile())
            .redirectError(log.toFile())
            .start();
    try {
      assertThat(browser.waitFor(2, TimeUnit.MINUTES)).as(Files.readString(log)).isTrue();
    } finally {
      browser.destroyForcibly();
    }
    assertThat(Files.readAllLines(log, UTF_8))
        .as("what the page may not do, or cannot")
        .noneMatch(line -> line.contains("CONSOLE"));
    return Jsoup.parse(Files.readString(dom, UTF_8));
  }

  @Test
  @DisplayName("the page breaks no rule of its own policy, and does nothing that a message says")
  void shows() throws Exception {
    try (Fixture outbox = new Fixture(Archive.FULL, true)) {
      outbox.append(message("order", "<img src=x onerror=alert(1)>"));
      outbox.settle(stored -> Decision.deadHaltingKey("</p><script>alert(1)</script>"));
      outbox.store.pause("</p><script>alert(2)</script>", Who.named("ann"));
      try (PageServer server =
          PageServer.start(Map.of("", outbox.page), Map.of(), "127.0.0.1", 0, null)) {
        Document page = dom(server.url(), 1_000);
        assertThat(page.select("#top").text()).isEqualTo("nothing to do");
        assertThat(page.select("section:has(h2:contains(Pauses)) .button").eachText())
            .containsExactly("Resume…", "Pause…");
        assertThat(page.select("main").text()).contains("aggregate type </p><script>alert(2)");
        assertThat(page.select("main").text()).contains("order/<img src=x onerror=alert(1)>");
        assertThat(page.select("#stale[hidden]")).hasSize(1);
        assertThat(page.select("polyline")).isEmpty();
      }
    }
  }

  @Test
  @DisplayName("the page renews itself")
  void renews() throws Exception {
    AtomicInteger looks = new AtomicInteger();
    OutboxPage page =
        OutboxPage.builder(new MemoryOutboxStore())
            .clock(() -> Instant.EPOCH.plusSeconds(10L * looks.incrementAndGet()))
            .build();
    try (PageServer server = PageServer.start(Map.of("", page), Map.of(), "127.0.0.1", 0, null)) {
      assertThat(dom(server.url(), 12_000).select("polyline")).hasSize(5);
    }
  }
}
