package dev.outbox.publisher.rabbitmq;

import static dev.outbox.embedded.TestMessages.message;
import static dev.outbox.embedded.TestMessages.stored;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Header;
import dev.outbox.embedded.DebianPackages;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opentest4j.TestAbortedException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A consumer in Python. */
class PikaTest {
  private static final Logger log = LoggerFactory.getLogger(PikaTest.class);
  private static final String UNICODE = "Gr\u00fc\u00dfe, \u4e16\u754c \ud83d\ude00 \" \\ \u0001";

  @TempDir Path directory;

  @Test
  @DisplayName("reads key, headers and bytes exactly")
  void exact() throws Exception {
    String exchange = TestRabbit.exchange();
    byte[] payload = new byte[256];
    for (int i = 0; i < payload.length; i++) {
      payload[i] = (byte) i;
    }
    StoredMessage sent =
        stored(
            message(exchange, "key " + UNICODE)
                .payload(payload)
                .contentType("application/octet-stream")
                .correlationId("c " + UNICODE)
                .header("tenant", UNICODE)
                .header("a", "1")
                .header("a", "")
                .header("name " + UNICODE, "last"));
    try (RabbitPublisher publisher = TestRabbit.publisher().build()) {
      assertThat(publisher.publish(List.of(sent))).containsOnly(Result.delivered());
    }
    // The same form as that of headers: a list of pairs.
    List<Header> read = Header.fromJson(consume(exchange));
    assertThat(read)
        .contains(
            new Header("key", "key " + UNICODE),
            new Header("routing-key", "Happened"),
            new Header("type", "Happened"),
            new Header("message-id", sent.message().id().toString()),
            new Header("body", Base64.getEncoder().encodeToString(payload)),
            new Header("tenant", UNICODE),
            new Header("a", ""),
            new Header("name " + UNICODE, "last"),
            new Header("outbox-headers", Header.toJson(sent.message().headers())),
            new Header("outbox-key", "key " + UNICODE),
            new Header("outbox-id", sent.message().id().toString()),
            new Header("outbox-aggregate-type", exchange),
            new Header("outbox-aggregate-id", "key " + UNICODE),
            new Header("outbox-event-type", "Happened"),
            new Header("content-type", "application/octet-stream"),
            new Header("outbox-created-at", sent.createdAt().toString()),
            new Header("outbox-sequence", Long.toString(sent.sequence())),
            new Header("outbox-correlation-id", "c " + UNICODE));
  }

  private String consume(String queue) throws Exception {
    String library = library();
    Path script = directory.resolve("consume.py");
    try (var in = PikaTest.class.getResourceAsStream("/consume.py")) {
      Files.copy(in, script);
    }
    return run(library, script.toString(), TestRabbit.uri(), queue);
  }

  /** Where pika is; empty when Python knows it. */
  private String library() throws Exception {
    try {
      String unused = run("", "-c", "import pika");
      return "";
    } catch (IllegalStateException e) {
      // not installed
    } catch (IOException e) {
      throw skipped("there is no python3");
    }
    try {
      Path root = DebianPackages.unpacked(List.of("python3-pika"));
      return root.resolve("usr/lib/python3/dist-packages").toString();
    } catch (UnsupportedOperationException e) {
      throw skipped(e.getMessage());
    }
  }

  private static TestAbortedException skipped(String why) {
    String reason =
        "no consumer in Python to test with: %s. Install python3 and python3-pika".formatted(why);
    log.warn("Tests are SKIPPED: {}", reason);
    return new TestAbortedException(reason);
  }

  private String run(String library, String... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("python3"));
    command.addAll(List.of(arguments));
    Path out = directory.resolve("out");
    Path errors = directory.resolve("errors");
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(errors.toFile());
    if (!library.isEmpty()) {
      builder.environment().put("PYTHONPATH", library);
    }
    Process python = builder.start();
    if (!python.waitFor(2, TimeUnit.MINUTES)) {
      python.destroyForcibly();
    }
    if (python.waitFor() != 0) {
      throw new IllegalStateException(Files.readString(errors, UTF_8));
    }
    return Files.readString(out, UTF_8);
  }
}
