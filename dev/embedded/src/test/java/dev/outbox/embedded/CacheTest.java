package dev.outbox.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CacheTest {
  @TempDir Path directory;

  @BeforeEach
  void use() {
    System.setProperty("outbox.embedded.cache", directory.toString());
  }

  @AfterEach
  void restore() {
    System.clearProperty("outbox.embedded.cache");
  }

  private static void make(Path path) throws IOException {
    Files.writeString(path.resolve("a"), "a");
    Files.createDirectories(path.resolve("d"));
    Files.writeString(path.resolve("d/b"), "b");
  }

  private static void await(CountDownLatch latch) throws IOException {
    try {
      assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  private List<String> names() throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files
          .map(f -> f.getFileName().toString())
          .filter(name -> !name.endsWith(".lock"))
          .toList();
    }
  }

  @Test
  @DisplayName("is made once")
  void once() throws Exception {
    AtomicInteger made = new AtomicInteger();
    for (int i = 0; i < 2; i++) {
      Path path =
          Cache.get(
              "thing",
              p -> {
                made.incrementAndGet();
                make(p);
              });
      assertThat(path.resolve("d/b")).hasContent("b");
    }
    assertThat(made).hasValue(1);
    assertThat(names()).containsExactly("thing");
  }

  @Test
  @DisplayName("an interrupted making leaves nothing, and a damaged one is made again")
  void damaged() throws Exception {
    assertThatThrownBy(
            () ->
                Cache.get(
                    "thing",
                    p -> {
                      make(p);
                      throw new IOException("interrupted");
                    }))
        .hasMessage("interrupted");
    assertThat(names()).isEmpty();
    Path path = Cache.get("thing", CacheTest::make);
    Files.delete(path.resolve("d/b"));
    Cache.get("thing", CacheTest::make);
    assertThat(path.resolve("d/b")).hasContent("b");
    assertThat(names()).containsExactly("thing");
  }

  @Test
  @DisplayName("several at once: one makes it, the others wait and get the same, whole")
  void several() throws Exception {
    ExecutorService executor = Executors.newFixedThreadPool(4);
    AtomicInteger made = new AtomicInteger();
    CountDownLatch together = new CountDownLatch(4);
    try {
      List<Future<Path>> paths = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        paths.add(
            executor.submit(
                () -> {
                  together.countDown();
                  return Cache.get(
                      "thing",
                      p -> {
                        await(together);
                        made.incrementAndGet();
                        make(p);
                      });
                }));
      }
      for (Future<Path> path : paths) {
        assertThat(path.get().resolve("d/b")).hasContent("b");
      }
    } finally {
      executor.shutdownNow();
    }
    assertThat(made).hasValue(1);
    assertThat(names()).containsExactly("thing");
  }

  @Test
  @DisplayName("another JVM waits while one makes it")
  void twoJvms() throws Exception {
    try (ChildJvm one = otherJvm()) {
      one.await("asks");
      one.await("makes");
      try (ChildJvm two = otherJvm()) {
        two.await("asks");
        one.send("go on");
        one.await("has b");
        two.await("has b");
      }
    }
  }

  private ChildJvm otherJvm() {
    return ChildJvm.start(CacheTest.class, Map.of("cache", directory.toString()));
  }

  /** In another JVM: makes it when a line comes in. */
  public static void main(String[] args) throws IOException {
    ParentJvm parent = ParentJvm.connect();
    System.setProperty("outbox.embedded.cache", parent.get("cache"));
    parent.say("asks");
    Path path =
        Cache.get(
            "thing",
            p -> {
              parent.say("makes");
              try {
                parent.command();
              } catch (InterruptedException e) {
                throw new IOException(e);
              }
              make(p);
            });
    parent.say("has " + Files.readString(path.resolve("d/b")));
  }
}
