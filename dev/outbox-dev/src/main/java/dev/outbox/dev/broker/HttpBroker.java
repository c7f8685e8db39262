package dev.outbox.dev.broker;

import static java.util.Objects.requireNonNull;

import dev.outbox.dev.broker.Broker.Started;
import dev.outbox.embedded.ChildJvm;
import dev.outbox.embedded.Ports;
import dev.outbox.publisher.core.Attributes;
import dev.outbox.publisher.http.HttpPublisher;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.StoredMessage;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A {@link Receiver}, which is only measured. */
final class HttpBroker extends Broker {
  private static final URI SOURCE = URI.create("urn:outbox:dev");

  private @Nullable ChildJvm receiver;

  HttpBroker() {
    super("HTTP", null, "", List.of());
  }

  @Override
  public void start(int proxyPort) {
    int port = Ports.free();
    ChildJvm started = ChildJvm.start(Receiver.class, Map.of(Receiver.PORT, "" + port));
    receiver = started;
    started.await(Receiver.STARTED);
    address("http://127.0.0.1:" + port);
  }

  @Override
  Started launch(int proxyPort) {
    throw new UnsupportedOperationException();
  }

  @Override
  public MessagePublisher measured() {
    return HttpPublisher.builder().url(address()).cloudEvents(SOURCE).build();
  }

  @Override
  public long arrived() {
    ChildJvm running = requireNonNull(receiver);
    running.send("arrived");
    return Long.parseLong(running.line());
  }

  @Override
  public Client client() {
    HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    return new Client() {
      @Override
      public int mostAtOnce() {
        return HttpPublisher.DEFAULT_MAX_IN_FLIGHT / 2; // there are two of these
      }

      @Override
      public void send(StoredMessage message, Consumer<Boolean> answered) {
        HttpRequest.Builder request =
            HttpRequest.newBuilder(URI.create(address()))
                .header("content-type", message.message().contentType())
                .POST(BodyPublishers.ofByteArray(message.message().payload()));
        Attributes.forEachOfCloudEvent(
            message, SOURCE, (name, value) -> request.header("ce-" + name, value));
        Attributes.forEach(
            message,
            (name, value) ->
                request.header(name.equals("content-type") ? "outbox-content-type" : name, value));
        var unused =
            http.sendAsync(request.build(), BodyHandlers.discarding())
                .whenComplete(
                    (answer, error) ->
                        answered.accept(
                            error == null && answer.statusCode() == Receiver.NO_CONTENT));
      }
    };
  }

  @Override
  public OptionalLong pid() {
    return OptionalLong.of(requireNonNull(receiver).pid());
  }

  @Override
  public void close() {
    if (receiver != null) {
      receiver.close();
    }
  }
}
