package dev.outbox.publisher.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.spi.publisher.Result;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.ClusterAuthorizationException;
import org.apache.kafka.common.errors.SaslAuthenticationException;
import org.apache.kafka.common.utils.AppInfoParser;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Each exception of Kafka's client has the result that docs/design/kafka.md gives it. */
class ExceptionsTest {
  private static final Path TABLE = Path.of("../../docs/design/kafka.md");
  private static final Place PLACE = new Place("orders", 3);
  private static final Pattern CLASS =
      Pattern.compile("org/apache/kafka/(common/(errors/)?|clients/producer/)\\w+\\.class");

  /** All exceptions of the client that a producer's user can see. */
  private static List<Class<? extends Throwable>> exceptions() throws Exception {
    Path jar =
        Path.of(KafkaException.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    try (JarFile file = new JarFile(jar.toFile());
        Stream<String> names = file.stream().map(e -> e.getName())) {
      return names
          .filter(name -> CLASS.matcher(name).matches())
          .<Class<?>>map(name -> load(name.replace(".class", "").replace('/', '.')))
          .filter(Throwable.class::isAssignableFrom)
          .filter(c -> !Modifier.isAbstract(c.getModifiers()))
          .<Class<? extends Throwable>>map(c -> c.asSubclass(Throwable.class))
          .toList();
    }
  }

  private static Class<?> load(String name) {
    try {
      return Class.forName(name, false, KafkaException.class.getClassLoader());
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The table's rows: a result, and the exceptions that mean it. */
  private static Map<String, String> table() throws IOException {
    Map<String, String> table = new TreeMap<>();
    Pattern row = Pattern.compile("\\| (\\*\\*[^|]+\\*\\*)[^|]* \\| ([^|]*) \\|");
    for (String line : Files.readAllLines(TABLE)) {
      Matcher matcher = row.matcher(line);
      if (matcher.matches()) {
        for (String name : matcher.group(2).split(", ")) {
          assertThat(table.put(name.strip(), matcher.group(1).replace("*", "")))
              .as("%s stands once in the table", name)
              .isNull();
        }
      }
    }
    return table;
  }

  @Test
  @DisplayName(
      "the table says what each exception means; of the version it names, it has no others")
  void complete() throws Exception {
    Map<String, String> means = new TreeMap<>();
    for (Class<? extends Throwable> exception : exceptions()) {
      means.put(name(exception), saying(make(exception)));
    }
    assertThat(table()).containsAllEntriesOf(means);
    if (Files.readString(TABLE).contains("kafka-clients " + AppInfoParser.getVersion())) {
      assertThat(table()).hasSameSizeAs(means);
    }
  }

  @Test
  @DisplayName("a generic exception with a cause is about the producer")
  void causes() {
    for (Throwable cause :
        List.of(
            new SaslAuthenticationException("no"),
            new ClusterAuthorizationException("no"),
            new KafkaException("Unexpected error in InitProducerIdResponse"),
            new UnsatisfiedLinkError("no snappy in java.library.path"))) {
      KafkaException error = new KafkaException("Cannot execute, in error state", cause);
      assertThat(saying(error)).isEqualTo("producer");
      assertThat(KafkaResults.isAuthentication(error))
          .isEqualTo(cause instanceof SaslAuthenticationException);
    }
  }

  private static String saying(Throwable error) {
    Result result = KafkaResults.result(error, PLACE);
    if (result instanceof Result.Unavailable unavailable) {
      if (unavailable.destination() != null) {
        assertThat(unavailable.destination()).isEqualTo("orders/3");
        return "place";
      }
      return KafkaResults.isProducersFault(error) ? "producer" : "whole";
    }
    return result instanceof Result.Rejected ? "rejected" : "failed";
  }

  private static String name(Class<?> exception) {
    return exception.getSimpleName().replaceFirst("Exception$", "");
  }

  private static Throwable make(Class<? extends Throwable> exception) throws Exception {
    Constructor<?> shortest =
        Stream.of(exception.getDeclaredConstructors())
            .min(Comparator.comparingInt(Constructor::getParameterCount))
            .orElseThrow();
    shortest.setAccessible(true);
    Object[] arguments = Stream.of(shortest.getParameterTypes()).map(ExceptionsTest::any).toArray();
    return (Throwable) shortest.newInstance(arguments);
  }

  private static Object any(Class<?> type) {
    if (type == int.class) {
      return 0;
    }
    if (type == long.class) {
      return 0L;
    }
    if (type == boolean.class) {
      return false;
    }
    return type == String.class ? "text" : type == Set.class ? Set.of() : null;
  }
}
