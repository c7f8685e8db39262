package dev.outbox.dev.bench;

import com.sun.net.httpserver.HttpServer;
import dev.outbox.embedded.ChildJvm;
import dev.outbox.embedded.ParentJvm;
import dev.outbox.publisher.core.Attributes;
import dev.outbox.publisher.http.HttpPublisher;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.StoredMessage;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/** A server that counts what it is sent, in a process of its own. */
final class PublishHttp implements PublishBroker {
  private static final int NO_CONTENT = 204;
  private static final URI SOURCE = URI.create("urn:outbox:bench");

  private final ChildJvm server = ChildJvm.start(Server.class, Map.of());
  private final URI endpoint = URI.create("http://127.0.0.1:" + server.line());
  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  static final class Server {
    private static final int NO_BODY = -1;

    private Server() {}

    public static void main(String[] args) throws Exception {
      System.setProperty("sun.net.httpserver.nodelay", "true");
      ParentJvm parent = ParentJvm.connect();
      AtomicLong arrived = new AtomicLong();
      HttpServer server =
          HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
      server.setExecutor(Executors.newCachedThreadPool());
      server.createContext(
          "/",
          exchange -> {
            var unused = exchange.getRequestBody().readAllBytes();
            arrived.incrementAndGet();
            exchange.sendResponseHeaders(NO_CONTENT, NO_BODY);
            exchange.close();
          });
      server.start();
      parent.say("" + server.getAddress().getPort());
      while (!parent.command().isEmpty()) {
        parent.say("" + arrived.get());
      }
    }
  }

  @Override
  public OptionalLong pid() {
    return OptionalLong.of(server.pid());
  }

  @Override
  public long arrived() {
    server.send("arrived");
    return Long.parseLong(server.line());
  }

  @Override
  public MessagePublisher publisher() {
    return HttpPublisher.builder().url(endpoint.toString()).cloudEvents(SOURCE).build();
  }

  @Override
  public Client client() {
    return new Answered();
  }

  @Override
  public void close() {
    server.close();
  }

  @Override
  public String toString() {
    return "HTTP";
  }

  private final class Answered implements Client {
    @Override
    public int mostAtOnce() {
      return HttpPublisher.DEFAULT_MAX_IN_FLIGHT / 2; // there are two of these
    }

    @Override
    public void send(StoredMessage message, Consumer<Boolean> answered) {
      HttpRequest.Builder request =
          HttpRequest.newBuilder(endpoint)
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
                      answered.accept(error == null && answer.statusCode() == NO_CONTENT));
    }
  }
}
