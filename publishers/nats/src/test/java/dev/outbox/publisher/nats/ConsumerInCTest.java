package dev.outbox.publisher.nats;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import dev.outbox.embedded.DebianPackages;
import dev.outbox.embedded.TestMessages;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.io.IOException;
import java.net.URLDecoder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opentest4j.TestAbortedException;

/**
 * What is published, read by NATS's client for C, which shares no code with ours. It is compiled
 * against Debian's packages of that client, which are unpacked and not installed.
 */
class ConsumerInCTest {
  private static final String UNICODE = "Grüße, \"100 %\" 世界 😀 ";

  @TempDir private Path directory;

  /** A message as the program printed it. */
  private record Read(byte[] body, Map<String, List<String>> headers) {
    static Read of(String line) {
      String[] parts = line.split(" ");
      Map<String, List<String>> headers = new HashMap<>();
      for (int i = 1; i < parts.length; i++) {
        String[] header = parts[i].split("=", 2);
        headers
            .computeIfAbsent(header[0], name -> new ArrayList<>())
            .add(new String(HexFormat.of().parseHex(header[1]), UTF_8));
      }
      return new Read(HexFormat.of().parseHex(parts[0]), headers);
    }

    String decoded(String name) {
      return URLDecoder.decode(headers.get(name).get(0).replace("+", "%2B"), UTF_8);
    }
  }

  private static String run(Map<String, String> environment, List<String> command)
      throws IOException, InterruptedException {
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().putAll(environment);
    Process process = builder.start();
    String said = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertThat(process.waitFor()).as("%s said: %s", command.get(0), said).isZero();
    return said;
  }

  private static Path client() {
    try {
      return DebianPackages.unpacked(List.of("libnats-dev", "libnats3.4", "libprotobuf-c1"));
    } catch (UnsupportedOperationException e) {
      throw new TestAbortedException("skipped: " + e.getMessage());
    }
  }

  private List<Read> read(String stream, int count) throws IOException, InterruptedException {
    Path root = client();
    Path libraries;
    try (Stream<Path> below = Files.list(root.resolve("usr/lib"))) {
      libraries =
          below.filter(folder -> folder.toString().endsWith("-gnu")).findFirst().orElseThrow();
    }
    String program = directory.resolve("consume").toString();
    String unsaid;
    try {
      unsaid =
          run(
              Map.of(),
              List.of(
                  "gcc",
                  "-Wall",
                  "-Werror",
                  "-I" + root.resolve("usr/include"),
                  "src/test/c/consume.c",
                  "-o" + program,
                  "-L" + libraries,
                  "-Wl,--unresolved-symbols=ignore-in-shared-libs",
                  "-lnats"));
    } catch (IOException e) {
      throw new TestAbortedException("skipped: there is no gcc: apt-get install gcc libc6-dev");
    }
    assertThat(unsaid).isEmpty();
    String said =
        run(
            Map.of("LD_LIBRARY_PATH", libraries.toString()),
            List.of(program, TestNats.url(), stream, stream + ".>", Integer.toString(count)));
    return said.lines().map(Read::of).toList();
  }

  @Test
  @DisplayName("a consumer in C reads key, headers and bytes exactly")
  void reads() throws Exception {
    byte[] bytes = new byte[256];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) i;
    }
    String stream = TestNats.stream(settings -> settings);
    OutboxMessage message =
        OutboxMessage.builder()
            .aggregate(stream, "id " + UNICODE)
            .eventType("type " + UNICODE)
            .partitionKey("key " + UNICODE)
            .payload(bytes)
            .contentType("application/octet-stream")
            .correlationId("correlation " + UNICODE)
            .header("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
            .header("name", UNICODE)
            .header("name", "second")
            .header("name " + UNICODE, "")
            .build();
    StoredMessage first = TestMessages.stored(message.toBuilder());
    StoredMessage second = TestMessages.stored(TestMessages.message(stream, "k").payload(""));
    try (NatsPublisher publisher = TestNats.publisher().build()) {
      assertThat(publisher.publish(List.of(first, second))).containsOnly(Result.delivered());
    }
    List<Read> read = read(stream, 2);
    Read one = read.get(0);
    assertThat(one.body()).isEqualTo(bytes);
    assertThat(one.decoded("outbox-key")).isEqualTo("key " + UNICODE);
    assertThat(one.decoded("outbox-aggregate-id")).isEqualTo("id " + UNICODE);
    assertThat(one.decoded("outbox-event-type")).isEqualTo("type " + UNICODE);
    assertThat(one.decoded("outbox-correlation-id")).isEqualTo("correlation " + UNICODE);
    assertThat(one.headers().get("Nats-Msg-Id")).containsExactly(message.id().toString());
    assertThat(one.headers().get("content-type")).containsExactly("application/octet-stream");
    assertThat(one.headers().get("traceparent"))
        .containsExactly("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
    List<Header> own = Header.fromJson(one.headers().get("outbox-headers").get(0));
    assertThat(own).isEqualTo(message.headers());
    assertThat(read.get(1).body()).isEmpty();
    assertThat(read.get(1).decoded("outbox-key")).isEqualTo("k");
  }
}
