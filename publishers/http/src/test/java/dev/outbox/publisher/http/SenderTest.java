package dev.outbox.publisher.http;

import static dev.outbox.embedded.TestMessages.error;
import static dev.outbox.embedded.TestMessages.stored;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.publisher.core.Destination;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.net.InetSocketAddress;
import java.net.ProxySelector;
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class SenderTest {

  @Test
  @DisplayName(
      "a client whose thread has ended is replaced, and what it had on its way is sent again")
  void clientEnds() throws Exception {
    CountDownLatch ended = new CountDownLatch(1);
    Set<Thread> before = clients();
    try (Receiver receiver = Receiver.start()) {
      receiver.answerLate("left", ended);
      HttpPublisher publisher =
          TestMessages.publisher(receiver.url("/")).requestTimeout(Duration.ofSeconds(2)).build();
      StoredMessage left = stored(TestMessages.message("left"));
      assertThat(publisher.publish(List.of(left))).allMatch(TestMessages::isOpen);
      Set<Thread> its = clients();
      its.removeAll(before);
      for (Thread thread : its) { // as an error ends it
        thread.interrupt();
        thread.join();
      }
      ended.countDown();
      for (StoredMessage message : List.of(TestMessages.batch("k").get(0), left)) {
        await()
            .until(
                () -> TestMessages.publishOne(publisher, message),
                result -> {
                  assertThat(result).isNotInstanceOf(Result.Failed.class);
                  return result.equals(Result.delivered());
                });
      }
    }
  }

  private static Set<Thread> clients() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().matches("HttpClient-.*-SelectorManager"))
        .collect(Collectors.toSet());
  }

  private static Sender sender(String url) {
    return sender(url, HttpClient.newBuilder());
  }

  private static Sender sender(String url, HttpClient.Builder client) {
    Timing timing = Timing.of(TestMessages.TIMEOUT, null);
    Requests requests =
        new Requests(
            TestMessages.SOURCE,
            false,
            List.of(),
            Set.of(),
            Map.of(),
            timing.head(),
            Clock.systemUTC());
    return new Sender(client, Destination.pattern(url), requests, timing, 1);
  }

  private static Sender.Sent sent(
      Sender sender, RequestSlots.Slot slot, CompletableFuture<Result> result) {
    StoredMessage message = TestMessages.batch("k").get(0);
    return new Sender.Sent(message, sender.endpoint(message), slot, result);
  }

  @Test
  @DisplayName("a message that was left is hardly waited for, nor is another one at its endpoint")
  void left() {
    Sender sender = sender("http://localhost:1/events");
    List<Sender.Sent> left = new ArrayList<>();
    sender
        .slots(sender.endpoint(TestMessages.batch("k").get(0)))
        .ask(slot -> left.add(sent(sender, slot, new CompletableFuture<>())));
    StoredMessage poison = left.get(0).message();
    Endpoint endpoint = left.get(0).endpoint();
    StoredMessage other = TestMessages.batch("other").get(0);
    long patience = sender.timing().patience().toNanos();
    assertThat(sender.waitsUntil(endpoint, poison, true, 7)).isEqualTo(7 + patience);
    assertThat(sender.leave(left.get(0))).matches(TestMessages::isOpen);
    for (StoredMessage message : List.of(poison, other)) {
      assertThat(sender.waitsUntil(endpoint, message, true, 7))
          .isEqualTo(7 + Timing.IMPATIENCE.toNanos());
    }
    assertThat(sender.waitsUntil(endpoint, other, false, 7)).as("no slot is left").isEqualTo(7);
  }

  @Test
  @DisplayName(
      "a host that a proxy does not reach is left alone for a while, and no message blamed")
  void behindProxy() throws Exception {
    try (RawServer proxy = RawServer.saying("HTTP/1.1 502 Bad\r\nContent-Length: 0\r\n\r\n")) {
      InetSocketAddress at = new InetSocketAddress("localhost", URI.create(proxy.url()).getPort());
      Sender sender =
          sender(
              "https://shop.example/events", HttpClient.newBuilder().proxy(ProxySelector.of(at)));
      Endpoint endpoint = sender.endpoint(TestMessages.batch("k").get(0));
      CompletableFuture<Result> result = new CompletableFuture<>();
      sender
          .slots(endpoint)
          .ask(
              slot -> {
                sender.send(sent(sender, slot, result));
                return true;
              });
      assertThat(error(result.get(1, TimeUnit.MINUTES))).contains("Tunnel failed, got: 502");
      assertThat(result.join()).isInstanceOf(Result.Unavailable.class);
      assertThat(sender.refusal(endpoint)).as("why nothing is sent there").isNotNull();
    }
  }

  /** Else its key would be "not answered yet" for ever. */
  @Test
  @DisplayName("a message has a result also when an answer cannot be processed")
  void errorAfterTheAnswer() throws Exception {
    try (RawServer server = RawServer.saying("HTTP/1.1 204 No Content\r\n\r\n")) {
      Sender sender = sender(server.url());
      RequestSlots line = sender.slots(sender.endpoint(TestMessages.batch("k").get(0)));
      CompletableFuture<Result> result = new CompletableFuture<>();
      line.ask(
          slot -> {
            line.ask( // runs where the answer is processed
                next -> {
                  throw new StackOverflowError();
                });
            sender.send(sent(sender, slot, result));
            return true;
          });
      assertThat(result.get(1, TimeUnit.MINUTES))
          .isInstanceOfSatisfying(
              Result.Failed.class,
              failed -> assertThat(failed.error()).contains("StackOverflowError"));
      assertThat(line.isIdle()).as("and who threw keeps no slot").isTrue();
    }
  }
}
