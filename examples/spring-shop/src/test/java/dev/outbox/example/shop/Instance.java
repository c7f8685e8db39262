package dev.outbox.example.shop;

import static org.awaitility.Awaitility.await;

import dev.outbox.embedded.ChildProgram;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The packaged shop, running in a JVM of its own. */
final class Instance implements AutoCloseable {
  private static final Pattern PORT = Pattern.compile("Tomcat started on port (\\d+)");
  private static final Duration PATIENCE = Duration.ofMinutes(5);

  private final HttpClient http = HttpClient.newHttpClient();
  private final ChildProgram program;
  private URI address;

  private Instance(ChildProgram program) {
    this.program = program;
  }

  /** Returns before it is ready: several start at the same time. */
  static Instance start(List<String> arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m", "-jar"));
    command.add(Path.of(System.getProperty("shop.jar")).toAbsolutePath().toString());
    command.add("--server.port=0");
    command.addAll(arguments);
    return new Instance(ChildProgram.start("the shop", command));
  }

  Instance awaitReady() {
    await()
        .atMost(PATIENCE)
        .until(
            () -> {
              if (!program.isAlive()) {
                throw new IllegalStateException("the shop has ended; it said: " + program.said());
              }
              return PORT.matcher(program.said()).find();
            });
    Matcher port = PORT.matcher(program.said());
    if (!port.find()) {
      throw new IllegalStateException(program.said());
    }
    address = URI.create("http://127.0.0.1:" + port.group(1));
    return this;
  }

  HttpResponse<String> post(String path, String json) throws IOException {
    return send(request(path).POST(BodyPublishers.ofString(json)));
  }

  /**
   * @param key of this request and its repetitions
   */
  HttpResponse<String> post(String path, String json, String key) throws IOException {
    return send(request(path).header("Idempotency-Key", key).POST(BodyPublishers.ofString(json)));
  }

  HttpResponse<String> put(String path) throws IOException {
    return send(request(path).PUT(BodyPublishers.noBody()));
  }

  /** The body of what is found there, whatever the status. */
  String get(String path) {
    try {
      return send(request(path).GET()).body();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(address.resolve(path))
        .timeout(PATIENCE)
        .header("Content-Type", "application/json");
  }

  private HttpResponse<String> send(HttpRequest.Builder request) throws IOException {
    try {
      return http.send(request.build(), BodyHandlers.ofString());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** SIGTERM, as a container's platform sends it; returns the exit code. */
  int terminate() {
    program.terminate();
    return program.exitCode();
  }

  String said() {
    return program.said();
  }

  @Override
  public void close() {
    program.close();
  }
}
