import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.outbox.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.bson.Document;

/**
 * Runs the container image where there is no container: unpacks its layers into an empty folder, and
 * runs its command there by chroot, as its user, until it has delivered a message. Needs root.
 *
 * <pre>
 * java -cp CLASSPATH RunImage.java IMAGE EMPTY_FOLDER
 * </pre>
 */
public final class RunImage {
  private final Path layout;
  private final Path root;
  private final Document config;

  private RunImage(Path tar, Path folder) throws Exception {
    layout = Files.createDirectories(folder.resolve("layout"));
    root = Files.createDirectory(folder.resolve("root"));
    unpack(tar, layout);
    Document index = Document.parse(Files.readString(layout.resolve("index.json")));
    Document manifest =
        Document.parse(
            Files.readString(blob(index.getList("manifests", Document.class).get(0))));
    for (Document layer : manifest.getList("layers", Document.class)) {
      System.out.printf(
          "image: layer %s, %,d bytes, %d entries%n",
          layer.getString("digest"), layer.get("size"), unpack(blob(layer), root));
    }
    Path described = blob(manifest.get("config", Document.class));
    config = Document.parse(Files.readString(described)).get("config", Document.class);
  }

  public static void main(String[] arguments) throws Exception {
    RunImage image = new RunImage(Path.of(arguments[0]), Path.of(arguments[1]));
    assertThat(image.config.getString("User")).matches("[1-9]\\d*:[1-9]\\d*");
    assertThat(image.root.resolve("bin/sh")).doesNotExist();
    try (EmbeddedPostgres server = EmbeddedPostgres.start()) {
      image.deliver(server);
    }
  }

  private Path blob(Document described) {
    return layout.resolve("blobs").resolve(described.getString("digest").replace(':', '/'));
  }

  /** Returns how many files and folders there were. */
  private static long unpack(Path tar, Path to) throws Exception {
    Process process =
        new ProcessBuilder("tar", "-xvf", tar.toString(), "-C", to.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    long entries = new String(process.getInputStream().readAllBytes(), UTF_8).lines().count();
    assertThat(process.waitFor()).as("tar -xvf " + tar).isZero();
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
          delivered.add(new String(exchange.getRequestBody().readAllBytes(), UTF_8));
          exchange.sendResponseHeaders(204, -1);
          exchange.close();
        });
    http.start();
    Files.writeString(
        Files.createDirectories(root.resolve("etc/outbox")).resolve("relay.properties"),
        """
        store.url=%s
        store.user=%s
        store.password=${OUTBOX_PASSWORD}
        publisher=http
        publisher.cloudEventsSource=https://shop.example
        destination=http://127.0.0.1:%d/{aggregateType}
        """
            .formatted(server.jdbcUrl(), server.user(), http.getAddress().getPort()));
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
      relay.destroy();
      assertThat(end(relay)).as("code of the relay after SIGTERM").isEqualTo(143);
      System.out.println("image: delivered a message, as user " + user);
    } finally {
      relay.destroyForcibly();
      http.stop(0);
    }
  }

  private Process start(EmbeddedPostgres server, List<String> arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.addAll(List.of("chroot", "--userspec=" + config.getString("User"), root.toString()));
    command.addAll(config.getList("Entrypoint", String.class));
    command.addAll(arguments);
    ProcessBuilder builder = new ProcessBuilder(command).inheritIO();
    builder.environment().put("OUTBOX_PASSWORD", server.password());
    for (String variable : config.getList("Env", String.class)) {
      String[] both = variable.split("=", 2);
      builder.environment().put(both[0], both[1]);
    }
    return builder.start();
  }

  private static int end(Process process) throws InterruptedException {
    assertThat(process.waitFor(1, TimeUnit.MINUTES)).as("it ends").isTrue();
    return process.exitValue();
  }
}
