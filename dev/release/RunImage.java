import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.outbox.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.bson.Document;

/**
 * Runs the container image where there is no container: unpacks its layers into an empty folder,
 * and runs its command there by chroot, as its user, until it has delivered a message. Needs root.
 *
 * <pre>
 * java -cp CLASSPATH RunImage.java IMAGE EMPTY_FOLDER
 * </pre>
 */
public final class RunImage {
  /**
   * What a container's runtime does: the kernel's folders, the image's variables and nobody's else.
   */
  private static final String START =
      """
      user=$1
      shift
      mount --rbind /proc "$0/proc"
      mount --rbind /dev "$0/dev"
      exec env -i OUTBOX_PASSWORD="$OUTBOX_PASSWORD" $VARIABLES \\
        "$(command -v chroot)" --userspec="$user" "$0" "$@"
      """;

  private final Path layout;
  private final Path root;
  private final Document config;

  private RunImage(Path tar, Path folder) throws Exception {
    layout = Files.createDirectories(folder.resolve("layout"));
    root = folder.resolve("root");
    Files.createDirectories(root.resolve("proc"));
    Files.createDirectories(root.resolve("dev"));
    unpack(tar, layout);
    Document index = Document.parse(Files.readString(layout.resolve("index.json")));
    Document manifest = read(index.getList("manifests", Document.class).get(0));
    Document described = read(manifest.get("config", Document.class));
    config = described.get("config", Document.class);
    Iterator<Document> history = described.getList("history", Document.class).iterator();
    for (Document layer : manifest.getList("layers", Document.class)) {
      System.out.printf(
          "image: a layer of %,d bytes, %d entries: %s%n",
          layer.get("size"), unpack(blob(layer), root), history.next().getString("comment"));
    }
  }

  public static void main(String[] arguments) throws Exception {
    RunImage image = new RunImage(Path.of(arguments[0]), Path.of(arguments[1]));
    assertThat(image.config.getString("User")).matches("[1-9]\\d*:[1-9]\\d*");
    assertThat(image.root.resolve("bin/sh")).doesNotExist();
    try (EmbeddedPostgres server = EmbeddedPostgres.start()) {
      image.deliver(server);
    }
  }

  private Path blob(Document reference) {
    return layout.resolve("blobs").resolve(reference.getString("digest").replace(':', '/'));
  }

  private Document read(Document reference) throws IOException {
    return Document.parse(Files.readString(blob(reference)));
  }

  /** Returns how many files and folders there were. */
  private static long unpack(Path tar, Path to) throws Exception {
    Process process =
        new ProcessBuilder(
                "tar",
                "-xv",
                "--warning=no-unknown-keyword",
                "-f",
                tar.toString(),
                "-C",
                to.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    long entries = new String(process.getInputStream().readAllBytes(), UTF_8).lines().count();
    assertThat(process.waitFor()).as("tar -xf " + tar).isZero();
    return entries;
  }

  private void deliver(EmbeddedPostgres server) throws Exception {
    List<String> migrate =
        List.of("migrate", "--url=" + server.jdbcUrl(), "--user=" + server.user());
    assertThat(end(start(server, migrate))).as("code of migrate").isZero();
    BlockingQueue<String> delivered = new LinkedBlockingQueue<>();
    HttpServer http =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    http.createContext(
        "/",
        exchange -> {
          String body = new String(exchange.getRequestBody().readAllBytes(), UTF_8);
          if (exchange.getRequestMethod().equals("POST")) { // and not OPTIONS, of who looks around
            delivered.add(body);
          }
          exchange.sendResponseHeaders(204, -1);
          exchange.close();
        });
    http.start();
    int served;
    try (ServerSocket free = new ServerSocket(0)) {
      served = free.getLocalPort();
    }
    Files.writeString(
        Files.createDirectories(root.resolve("etc/outbox")).resolve("relay.properties"),
        """
        store.url=%s
        store.user=%s
        store.password=${OUTBOX_PASSWORD}
        publisher=http
        publisher.cloudEventsSource=https://shop.example
        destination=http://127.0.0.1:%d/{aggregateType}
        server.port=%d
        """
            .formatted(server.jdbcUrl(), server.user(), http.getAddress().getPort(), served));
    try (Connection connection =
            DriverManager.getConnection(server.jdbcUrl(), server.user(), server.password());
        Statement statement = connection.createStatement()) {
      statement.execute(
          "insert into outbox_message (aggregate_type, aggregate_id, event_type, payload)"
              + " values ('order', '1', 'OrderPlaced', 'hello')");
    }
    Process relay = start(server, config.getList("Cmd", String.class));
    try {
      assertThat(delivered.poll(1, TimeUnit.MINUTES)).isEqualTo("hello");
      String user = config.getString("User").replaceFirst(":.*", "");
      assertThat(Path.of("/proc", relay.pid() + "", "status"))
          .content()
          .containsPattern("Uid:\t" + user + "\t" + user);
      assertThat(metrics(served)).contains("outbox_messages{");
      relay.destroy();
      assertThat(end(relay)).as("code of the relay after SIGTERM").isEqualTo(143);
      System.out.println("image: delivered a message, as user " + user);
    } finally {
      relay.destroyForcibly();
      http.stop(0);
    }
  }

  /** The server may begin after the relay. */
  private static String metrics(int port) throws IOException, InterruptedException {
    for (int tries = 0; ; tries++) {
      try (InputStream metrics =
          URI.create("http://127.0.0.1:" + port + "/metrics").toURL().openStream()) {
        return new String(metrics.readAllBytes(), UTF_8);
      } catch (ConnectException e) {
        if (tries == 100) {
          throw e;
        }
        Thread.sleep(100);
      }
    }
  }

  private Process start(EmbeddedPostgres server, List<String> arguments) throws IOException {
    List<String> command = new ArrayList<>(List.of("unshare", "--mount", "sh", "-euc", START));
    command.addAll(List.of(root.toString(), config.getString("User")));
    command.addAll(config.getList("Entrypoint", String.class));
    command.addAll(arguments);
    ProcessBuilder builder = new ProcessBuilder(command).inheritIO();
    builder.environment().put("VARIABLES", String.join(" ", config.getList("Env", String.class)));
    builder.environment().put("OUTBOX_PASSWORD", server.password());
    return builder.start();
  }

  private static int end(Process process) throws InterruptedException {
    assertThat(process.waitFor(1, TimeUnit.MINUTES)).as("it ends").isTrue();
    return process.exitValue();
  }
}
