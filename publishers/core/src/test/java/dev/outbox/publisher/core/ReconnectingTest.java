package dev.outbox.publisher.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.outbox.publisher.core.Reconnecting.NoConnectionException;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("A connection, and another one in its place")
@Timeout(60)
class ReconnectingTest {
  private static final long PATIENCE = Duration.ofMinutes(1).toNanos();

  private volatile Callable<Link> opener = Link::new;
  private final Reconnecting<Link> links =
      new Reconnecting<>("test", () -> opener.call(), error -> "why: " + error);

  private static class Link implements Reconnecting.Connection {
    volatile boolean open = true;
    volatile boolean closed;
    volatile boolean killed;

    @Override
    public boolean isOpen() {
      return open;
    }

    @Override
    public void close(long millis) {
      closed = true;
    }

    @Override
    public void kill() {
      killed = true;
    }
  }

  @Test
  @DisplayName("is made once, and anew when it is lost or taken out")
  void anew() throws Exception {
    Link first = links.get(PATIENCE);
    assertThat(links.get(PATIENCE)).isSameAs(first);
    first.open = false;
    Link second = links.get(PATIENCE);
    assertThat(second).isNotSameAs(first);
    assertThat(first.killed).isTrue();
    assertThat(links.takeOut(first)).isFalse();
    assertThat(links.takeOut(second)).isTrue();
    assertThat(links.takeOut(second)).isFalse();
    assertThat(second.killed).isFalse();
    assertThat(links.inUse()).isNull();
    assertThat(links.get(PATIENCE)).isNotSameAs(second).isSameAs(links.inUse());
  }

  @Test
  @DisplayName("that is lost can be dropped when the next one has failed")
  void dropAfterFailure() throws Exception {
    Link lost = links.get(PATIENCE);
    lost.open = false;
    opener =
        () -> {
          throw new IOException("nobody listens");
        };
    CompletableFuture<Link> next = links.start();
    await().until(next::isCompletedExceptionally);
    links.drop(lost);
    assertThat(links.inUse()).isNull();
    opener = Link::new;
    assertThat(links.get(PATIENCE).isOpen()).isTrue();
  }

  @Test
  @DisplayName(
      "that is not there is said in a sentence, in the opener's own words where it has some")
  void words() {
    CountDownLatch never = new CountDownLatch(1);
    opener =
        () -> {
          never.await();
          throw new IOException("nobody listens");
        };
    assertNone(1, "why: null");
    never.countDown();
    assertNone(PATIENCE, "why: java.io.IOException: nobody listens");
    opener =
        () -> {
          throw new NoConnectionException("not before tomorrow");
        };
    assertNone(PATIENCE, "not before tomorrow");
    links.close(1);
    assertNone(PATIENCE, "the publisher is closed");
  }

  private void assertNone(long patience, String why) {
    assertThatThrownBy(() -> links.get(patience))
        .isInstanceOf(NoConnectionException.class)
        .hasMessage(why);
  }

  @Test
  @DisplayName("is closed in good order, and killed when that hangs or fails")
  void close() throws Exception {
    Link good = links.get(PATIENCE);
    links.close(Duration.ofMinutes(1).toMillis());
    assertThat(good.closed).isTrue();
    assertThat(good.killed).isFalse();
    assertThat(links.inUse()).isNull();

    CountDownLatch never = new CountDownLatch(1);
    assertKilled(
        1,
        new Link() {
          @Override
          public void close(long millis) {
            try {
              never.await();
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
          }
        });
    never.countDown();
    assertKilled(
        Duration.ofMinutes(1).toMillis(),
        new Link() {
          @Override
          public void close(long millis) {
            throw new AssertionError("what is closed");
          }
        });
    Link atOnce = new Link();
    assertKilled(0, atOnce);
    assertThat(atOnce.closed).isFalse();
  }

  private static void assertKilled(long millis, Link link) throws Exception {
    Reconnecting<Link> links = new Reconnecting<>("test", () -> link, error -> "");
    var unused = links.get(PATIENCE);
    links.close(millis);
    assertThat(link.killed).isTrue();
  }

  @Test
  @DisplayName("that is made after the close is killed")
  void late() throws Exception {
    CountDownLatch made = new CountDownLatch(1);
    Link late = new Link();
    opener =
        () -> {
          made.await();
          return late;
        };
    CompletableFuture<Link> future = links.start();
    links.close(Duration.ofMinutes(1).toMillis());
    made.countDown();
    await().until(() -> late.killed);
    assertThat(future).isCompletedWithValue(late);
  }
}
