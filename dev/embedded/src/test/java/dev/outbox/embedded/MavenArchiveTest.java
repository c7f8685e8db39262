package dev.outbox.embedded;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MavenArchiveTest {
  private static final byte[] CONTENT = "a server, packed".getBytes(UTF_8);
  private static final String PATH = "org/example/server/1/server-1.zip";

  @TempDir Path local;
  @TempDir Path cache;
  private final String localBefore = System.getProperty("maven.repo.local");
  private final PrintStream errBefore = System.err;
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();
  private final AtomicInteger downloads = new AtomicInteger();
  private HttpServer http;
  private byte[] offered = CONTENT;
  private MavenArchive archive;

  @BeforeEach
  void start() throws Exception {
    http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    http.createContext(
        "/maven2/" + PATH,
        exchange -> {
          downloads.incrementAndGet();
          exchange.sendResponseHeaders(200, offered.length);
          exchange.getResponseBody().write(offered);
          exchange.close();
        });
    http.start();
    String repository = "http://127.0.0.1:" + http.getAddress().getPort() + "/maven2/";
    System.setProperty("outbox.maven.repository", repository);
    System.setProperty("maven.repo.local", local.toString());
    System.setProperty("outbox.embedded.cache", cache.toString());
    System.setErr(new PrintStream(err, true, UTF_8));
    byte[] digest = MessageDigest.getInstance("SHA-256").digest(CONTENT);
    archive =
        new MavenArchive("Server 1", PATH, CONTENT.length, HexFormat.of().formatHex(digest), 7);
  }

  @AfterEach
  void restore() {
    http.stop(0);
    System.setErr(errBefore);
    System.clearProperty("outbox.maven.repository");
    System.clearProperty("outbox.embedded.cache");
    if (localBefore == null) {
      System.clearProperty("maven.repo.local");
    } else {
      System.setProperty("maven.repo.local", localBefore);
    }
  }

  private Path get() throws IOException {
    return Cache.get(
        "server",
        path ->
            archive.with(
                path,
                zip -> {
                  if (downloads.get() > 0) {
                    assertThat(err.toString(UTF_8)).contains("downloading");
                  }
                  Files.copy(zip, path.resolve("unpacked"));
                }));
  }

  @Test
  @DisplayName("is downloaded once, which is said before, and not kept")
  void downloaded() throws Exception {
    Path server = get();
    assertThat(get()).isEqualTo(server);
    assertThat(downloads).hasValue(1);
    assertThat(server.resolve("unpacked")).hasBinaryContent(CONTENT);
    assertThat(server.resolve("archive.tmp")).doesNotExist();
    assertThat(err.toString(UTF_8))
        .startsWith("Server 1 is not here: downloading 0 MB from http://127.0.0.1:")
        .contains("/maven2/" + PATH + ", once; 7 MB are kept in " + cache.toRealPath())
        .contains("Server 1: 0 of 0 MB");
  }

  @Test
  @DisplayName("is taken from the local Maven repository, and left there")
  void local() throws Exception {
    Path file = local.resolve(PATH);
    Files.createDirectories(file.getParent());
    Files.write(file, CONTENT);
    assertThat(get().resolve("unpacked")).hasBinaryContent(CONTENT);
    assertThat(file).hasBinaryContent(CONTENT);
    assertThat(downloads).hasValue(0);
    assertThat(err.toString(UTF_8)).isEmpty();
  }

  @Test
  @DisplayName("a damaged one in the local Maven repository is not used")
  void localDamaged() throws Exception {
    Path file = local.resolve(PATH);
    Files.createDirectories(file.getParent());
    Files.writeString(file, "a Server, packed");
    assertThat(get().resolve("unpacked")).hasBinaryContent(CONTENT);
    assertThat(downloads).hasValue(1);
  }

  @Test
  @DisplayName("a damaged, a short and a long download are refused and not cached")
  void damaged() throws Exception {
    for (String bad : new String[] {"a Server, packed", "a server", "a server, packed, and more"}) {
      offered = bad.getBytes(UTF_8);
      assertThatThrownBy(this::get)
          .isInstanceOf(IOException.class)
          .hasMessageContaining("Server 1 from http://127.0.0.1:")
          .hasMessageContaining("is damaged and not kept");
      assertThat(cache.resolve("server")).doesNotExist();
      assertThat(cache.resolve("server.draft")).doesNotExist();
    }
    offered = CONTENT;
    assertThat(get().resolve("unpacked")).hasBinaryContent(CONTENT);
    assertThat(downloads).hasValue(4);
  }

  @Test
  @DisplayName("a repository with a password is refused, and the password not shown")
  void password() {
    System.setProperty("outbox.maven.repository", "https://me:secret@localhost/maven2");
    assertThatThrownBy(this::get)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("outbox.maven.repository")
        .hasMessageNotContaining("secret");
    assertThat(err.toString(UTF_8)).isEmpty();
  }

  @Test
  @DisplayName("a repository that does not answer is an error that says what to do")
  void unreachable() {
    http.stop(0);
    assertThatThrownBy(this::get)
        .isInstanceOf(IOException.class)
        .hasMessageContaining("Server 1 could not be downloaded from http://127.0.0.1:")
        .hasMessageContaining("-Doutbox.maven.repository=");
    assertThat(cache.resolve("server")).doesNotExist();
  }
}
