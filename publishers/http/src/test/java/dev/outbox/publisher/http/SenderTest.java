package dev.outbox.publisher.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.publisher.core.Destination;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.net.http.HttpClient;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class SenderTest {

  /** Else its key would be "not answered yet" for ever. */
  @Test
  @DisplayName("a message has a result also when an answer cannot be processed")
  void errorAfterTheAnswer() throws Exception {
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
    try (RawServer server = RawServer.saying("HTTP/1.1 204 No Content\r\n\r\n")) {
      Sender sender =
          new Sender(
              HttpClient.newHttpClient(), Destination.pattern(server.url()), requests, timing, 1);
      StoredMessage message = TestMessages.batch("k").get(0);
      Endpoint endpoint = sender.endpoint(message);
      RequestSlots line = sender.slots(endpoint);
      CompletableFuture<Result> result = new CompletableFuture<>();
      line.ask(
          slot -> {
            line.ask( // runs where the answer is processed
                next -> {
                  throw new StackOverflowError();
                });
            sender.send(new Sender.Sent(message, endpoint, slot, result));
            return true;
          });
      assertThat(result.get(1, TimeUnit.MINUTES))
          .isInstanceOfSatisfying(
              Result.Failed.class,
              failed -> assertThat(failed.error()).contains("StackOverflowError"));
    }
  }
}
