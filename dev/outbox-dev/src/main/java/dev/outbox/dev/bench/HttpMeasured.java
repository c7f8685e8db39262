package dev.outbox.dev.bench;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.outbox.publisher.core.Attributes;
import dev.outbox.publisher.http.HttpPublisher;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.StoredMessage;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.OptionalLong;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/** A server in this JVM that receives CloudEvents and counts them. */
final class HttpMeasured implements Measured {
  private static final URI SOURCE = URI.create("urn:outbox:dev");
  private static final int NO_CONTENT = 204;
  private static final int BAD_REQUEST = 400;
  private static final int NO_BODY = -1;

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final AtomicLong arrived = new AtomicLong();
  private final HttpServer server;
  private final String url;

  HttpMeasured() throws IOException {
    System.setProperty("sun.net.httpserver.nodelay", "true");
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext("/", this::handle);
    server.start();
    url = "http://127.0.0.1:" + server.getAddress().getPort();
  }

  private void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      long ignored = exchange.getRequestBody().readAllBytes().length;
      boolean good = exchange.getRequestHeaders().getFirst("ce-id") != null;
      arrived.addAndGet(good ? 1 : 0);
      exchange.sendResponseHeaders(good ? NO_CONTENT : BAD_REQUEST, NO_BODY);
    }
  }

  @Override
  public String toString() {
    return "HTTP";
  }

  @Override
  public OptionalLong pid() {
    return OptionalLong.empty();
  }

  @Override
  public MessagePublisher publisher() {
    return HttpPublisher.builder().url(url).cloudEvents(SOURCE).build();
  }

  @Override
  public long arrived() {
    return arrived.get();
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
            HttpRequest.newBuilder(URI.create(url))
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
    };
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
