package dev.outbox.dev;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.ObjectInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Enumeration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * Data makes no objects but ours: no class of this project names what reads serialized objects,
 * looks up names, runs scripts or loads classes. All modules are on this one's class path.
 */
class NoDeserializationTest {

  /** As they stand in a class file. */
  private static final List<String> DANGEROUS =
      List.of(
          "java/io/ObjectInputStream",
          "java/io/ObjectInput",
          "java/beans/XMLDecoder",
          "java/net/URLClassLoader",
          "java/rmi/",
          "javax/naming/",
          "javax/script/",
          "javax/management/remote/",
          "org/yaml/",
          "com/fasterxml/",
          "forName",
          "defineClass",
          "loadClass");

  /** A class of ours that names one, and why it may. */
  private static final Map<String, String> ALLOWED =
      Map.of(
          "dev/outbox/embedded/TestServers.class forName",
          "asks whether Testcontainers is there, by a constant name",
          "dev/outbox/store/jdbc/internal/PoolSize.class forName",
          "asks which types of pools are there, by constant names",
          "dev/outbox/dev/tck/TckCommand.class forName",
          "loads the suite that whoever runs the command names, from that one's own jars");

  /** What this test must find, or it would find nothing. */
  static Object deserialize(byte[] bytes) throws Exception {
    return new ObjectInputStream(new ByteArrayInputStream(bytes)).readObject();
  }

  @Test
  @DisplayName("nothing of ours deserializes, looks up names, runs scripts or loads classes")
  void ours() throws IOException {
    Map<String, byte[]> classes = new TreeMap<>();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
      read(Path.of(entry), classes);
    }
    assertThat(classes.keySet())
        .as("classes of each module")
        .contains(
            "dev/outbox/OutboxMessage.class",
            "dev/outbox/relay/Relay.class",
            "dev/outbox/store/core/BucketStore.class",
            "dev/outbox/store/jdbc/internal/MessageRows.class",
            "dev/outbox/store/postgres/PostgresOutboxStore.class",
            "dev/outbox/store/mysql/MysqlOutboxStore.class",
            "dev/outbox/store/sqlserver/SqlServerOutboxStore.class",
            "dev/outbox/store/mongo/MongoOutboxStore.class",
            "dev/outbox/store/redis/RedisOutboxStore.class",
            "dev/outbox/publisher/http/HttpPublisher.class",
            "dev/outbox/publisher/kafka/KafkaPublisher.class",
            "dev/outbox/publisher/nats/NatsPublisher.class",
            "dev/outbox/publisher/rabbitmq/RabbitPublisher.class",
            "dev/outbox/embedded/EmbeddedKafka.class",
            "dev/outbox/dev/bench/Bench.class",
            "dev/outbox/cli/Main.class");
    assertThat(named(itself())).as("in this test").contains("java/io/ObjectInputStream");
    assertThat(
            classes.keySet().stream()
                .flatMap(name -> named(classes.get(name)).stream().map(found -> name + " " + found))
                .filter(found -> !ALLOWED.containsKey(found)))
        .isEmpty();
  }

  private static byte[] itself() throws IOException {
    try (InputStream in =
        NoDeserializationTest.class.getResourceAsStream("NoDeserializationTest.class")) {
      return in.readAllBytes();
    }
  }

  private static List<String> named(byte[] type) {
    String content = new String(type, ISO_8859_1);
    return DANGEROUS.stream().filter(content::contains).toList();
  }

  /** The stores' suites are there too, for "tck": they are tests. */
  private static void read(Path entry, Map<String, byte[]> classes) throws IOException {
    if (entry.endsWith("test-classes") || entry.toString().endsWith("-tests.jar")) {
      return;
    }
    if (Files.isDirectory(entry)) {
      try (Stream<Path> files = Files.walk(entry)) {
        for (Path file : files.filter(NoDeserializationTest::isOurs).toList()) {
          classes.put(
              entry.relativize(file).toString().replace('\\', '/'), Files.readAllBytes(file));
        }
      }
    } else if (entry.getFileName().toString().startsWith("outbox-")) {
      try (JarFile jar = new JarFile(entry.toFile())) {
        for (Enumeration<JarEntry> e = jar.entries(); e.hasMoreElements(); ) {
          JarEntry file = e.nextElement();
          if (isOurs(Path.of(file.getName()))) {
            try (InputStream in = jar.getInputStream(file)) {
              classes.put(file.getName(), in.readAllBytes());
            }
          }
        }
      }
    }
  }

  private static boolean isOurs(Path file) {
    String name = file.toString().replace('\\', '/');
    return name.contains("dev/outbox/") && name.endsWith(".class");
  }
}
