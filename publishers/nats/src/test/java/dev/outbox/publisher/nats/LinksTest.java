package dev.outbox.publisher.nats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.nats.client.Options;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** One connection after the other, to a real server. */
class LinksTest {
  private static final Timing TIMING = Timing.of(Duration.ofSeconds(8));
  private static final String NOBODY = "nats://127.0.0.1:1";

  @Test
  @DisplayName("a lost connection can be given up when the next one has failed")
  void dropAfterFailure() throws Exception {
    AtomicReference<String> url = new AtomicReference<>(TestNats.url());
    Links links = new Links(() -> new Options.Builder().server(url.get()).maxReconnects(0), TIMING);
    Link lost = links.get(TIMING.patience());
    url.set(NOBODY);
    lost.close();
    CompletableFuture<Link> next = links.start();
    await().until(next::isCompletedExceptionally);
    links.drop(lost);
    url.set(TestNats.url());
    assertThat(links.get(TIMING.patience()).isOpen()).isTrue();
    links.close();
  }
}
