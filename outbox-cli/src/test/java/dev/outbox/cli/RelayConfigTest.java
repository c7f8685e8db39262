package dev.outbox.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Archive;
import dev.outbox.OutboxMessage;
import dev.outbox.relay.Relay;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.PublisherProvider;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.memory.MemoryOutboxStore;
import dev.outbox.store.postgres.PostgresOutboxStore;
import java.io.StringReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.postgresql.ds.PGSimpleDataSource;

class RelayConfigTest {
  private static final String LEAST =
      "store.url=jdbc:postgresql://h/d\nkafka.bootstrap.servers=127.0.0.1:1\n";

  private static Properties properties(String text) throws Exception {
    Properties properties = new Properties();
    properties.load(new StringReader(text));
    return properties;
  }

  private static RelayConfig config(String text, Map<String, String> environment) throws Exception {
    return all(text, environment).values().iterator().next();
  }

  private static RelayConfig config(String text) throws Exception {
    return config(text, Map.of());
  }

  /** Builds a relay, which checks its settings and connects nowhere. */
  private static Relay relay(RelayConfig config) {
    Relay.Builder builder =
        Relay.builder(
            PostgresOutboxStore.of(new PGSimpleDataSource()),
            messages -> messages.stream().map(m -> Result.delivered()).toList());
    config.configure(builder);
    return builder.build();
  }

  @Test
  @DisplayName("a relay that is told nothing of an archive that is there is warned")
  void gap() throws Exception {
    MemoryOutboxStore archive =
        new MemoryOutboxStore(InstantSource.system(), Duration.ofDays(1), Archive.METADATA, null);
    assertThat(DatabaseRelay.gap(config(LEAST), archive))
        .contains("this relay keeps nothing", "store.archive", "full", "none");
    assertThat(DatabaseRelay.gap(config(LEAST + "store.archive=none\n"), archive)).isNull();
    assertThat(DatabaseRelay.gap(config(LEAST), new MemoryOutboxStore())).isNull();
  }

  /** Of a jar whose classes are gone by the time it is closed. */
  public static final class Gone implements PublisherProvider {
    private static final AtomicInteger CLOSED = new AtomicInteger();

    @Override
    public String name() {
      return "gone";
    }

    @Override
    public Set<String> properties() {
      return Set.of();
    }

    @Override
    public MessagePublisher open(Map<String, String> properties, Duration timeout) {
      return new MessagePublisher() {
        @Override
        public List<Result> publish(List<StoredMessage> messages) {
          return messages.stream().map(m -> Result.delivered()).toList();
        }

        @Override
        public void close() {
          CLOSED.incrementAndGet();
          throw new NoClassDefFoundError("dev/outbox/Gone");
        }
      };
    }
  }

  @Test
  @DisplayName("why a process does not start is said, and all is closed, also when that fails")
  void startFails(@TempDir Path jar) throws Exception {
    Path services = Files.createDirectories(jar.resolve("META-INF/services"));
    Files.writeString(services.resolve(PublisherProvider.class.getName()), Gone.class.getName());
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        URLClassLoader plugins = new URLClassLoader(new URL[] {jar.toUri().toURL()}, before)) {
      thread.setContextClassLoader(plugins);
      Properties properties =
          properties(
              """
              databases=one,two
              store.url=jdbc:postgresql://127.0.0.1:1/d
              database.two.store.prefix=two_
              publisher=gone
              server.port=%s
              """
                  .formatted(taken.getLocalPort()));
      assertThatThrownBy(() -> RelayProcess.start(properties).close())
          .isInstanceOf(Failure.class)
          .hasMessageContaining("the server cannot listen at 127.0.0.1, port");
      assertThat(Gone.CLOSED).hasValue(2);
    } finally {
      thread.setContextClassLoader(before);
    }
  }

  @Test
  @DisplayName("the example explains each property, and works when all of them are switched on")
  void example() throws Exception {
    String text = RelayCommand.example();
    assertThat(
            RelayConfig.known(Publishers.of(Map.of())).stream()
                .filter(name -> !name.startsWith("kafka.") && !name.endsWith("."))
                .filter(name -> !name.startsWith("publisher.kafka.")))
        .allSatisfy(
            name ->
                assertThat(Pattern.compile("(?m)^#?" + Pattern.quote(name) + "=").matcher(text))
                    .as(name)
                    .matches(java.util.regex.Matcher::find));

    Map<String, String> environment = Map.of("OUTBOX_PASSWORD", "pw", "KAFKA_PASSWORD", "kpw");
    assertThat(config(text, environment).text("store.password", "")).isEqualTo("pw");
    String all =
        text.replaceAll("(?m)^#(?=[a-z]+\\.[A-Za-z.]+=|  username)", "")
            .replace("relay.name=", "relay.name=one");
    RelayConfig config = config(all, environment);
    relay(config).close();
    assertThat(config.text("destination.order", "")).isEqualTo("shop.orders");
    assertThat(config.text("kafka.sasl.jaas.config", "")).endsWith("password=\"kpw\";");
    assertThat(config.publisherTimeout()).isEqualTo(Duration.ofSeconds(20));
  }

  @Test
  @DisplayName(
      "what is served has a port; there is a page where it is said, which only shows unless it is said")
  void page() throws Exception {
    assertThat(config(LEAST).server()).isNull();
    assertThat(config(LEAST + "server.port=8025").hasPage()).isFalse();
    assertThat(config(LEAST + "server.port=8025").server())
        .isEqualTo(new PageSettings("127.0.0.1", 8025, false, null));
    assertThat(
            config(
                    LEAST
                        + "server.port=0\nserver.host=0.0.0.0\n"
                        + "ui.enabled=true\nui.allowChanges=true\nui.token=${TOKEN}",
                    Map.of("TOKEN", "t0ps3cret"))
                .server())
        .isEqualTo(new PageSettings("0.0.0.0", 0, true, "t0ps3cret"));
    assertThat(Secrets.mask("http://h/?token=t0ps3cret")).isEqualTo("http://h/?token=***");
  }

  @Test
  @DisplayName("a broker has to be named")
  void noBroker() {
    assertThatThrownBy(() -> config("store.url=jdbc:postgresql://h/d").publisher())
        .hasMessageStartingWith("bootstrap.servers is missing");
  }

  /** Lines are parted by semicolons. */
  @ParameterizedTest
  @DisplayName("what cannot be is refused before anybody is asked, with the property's name")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "relay.batchsize=1 | there is no property relay.batchsize: did you mean relay.batchSize?",
        "relay.lease.time=1 | there is no property relay.lease.time: did you mean relay.lease?",
        "store.pasword=1 | there is no property store.pasword: did you mean store.password?",
        "storeurl=1 | there is no property storeurl: did you mean store.url?",
        "retry.attempts=1 | there is no property retry.attempts: did you mean retry.maxAttempts?",
        "databses=1 | there is no property databses: did you mean databases?",
        "rates=1/d | there is no property rates: did you mean rate?",
        "kafka.bootstrap.server=1 | there is no property kafka.bootstrap.server: did you mean kafka.bootstrap.servers? One of a plugin's is to be named in publisher.pluginProperties",
        "kafka.batchsize=1 | there is no property kafka.batchsize: did you mean kafka.batch.size? One of a plugin's is to be named in publisher.pluginProperties",
        "kafka.sasl.mechanisms=1 | there is no property kafka.sasl.mechanisms: did you mean kafka.sasl.mechanism? One of a plugin's is to be named in publisher.pluginProperties",
        "kafka.ssl.truststore.pasword=1 | there is no property kafka.ssl.truststore.pasword: did you mean kafka.ssl.truststore.password? One of a plugin's is to be named in publisher.pluginProperties",
        "kafka.basic.auth.user.info=a;publisher.pluginProperties=basic.auth,my. | there is no property kafka.basic.auth.user.info: ",
        "publisher=http | the property kafka.bootstrap.servers is for the publisher kafka, which publisher does not name: remove it",
        "publisher=pigeon | the property publisher is pigeon, those that were found are [http, kafka, nats, rabbitmq]: put the jars of another one on the class path",
        "publisher=kafka,kafka | the property publisher names kafka twice",
        "publisher=, | the property publisher is empty: name a publisher",
        "publisher.kafka.types=a | each publisher has types: ",
        "publisher=kafka,second;publisher.second.kind=kafka | the publishers kafka, second have no types: ",
        "publisher=kafka,second;publisher.second.kind=kafka;publisher.second.kafka.batchsize=1 | there is no property publisher.second.kafka.batchsize: did you mean publisher.second.kafka.batch.size? One of a plugin's",
        "publisher=kafka,second;publisher.second.kind=kafka;publisher.second.types=a;publisher.second.kafka.acks=1 | the publisher second: acks ",
        "publisher=kafka,second;publisher.second.kind=kafka;publisher.third.types=x | there is no property publisher.third.types: did you mean publisher.",
        "rate=fast | the rate fast is not understood: give ",
        "store.url= | the property store.url is missing: it is needed",
        "store.url=jdbc:postgresql://h/d?password=c1nder2;store.password=0ther | store.url has a password, and store.password gives another: give one of the two",
        "store.password=${NOT_SET} | the property store.password names the variable NOT_SET",
        "store.inboxPrefix=outbox_ | store.inboxPrefix and store.prefix are both outbox_, but an inbox has tables of its own: give the inbox another prefix",
        "store.inboxPrefix=my_;store.prefix=my_ | store.inboxPrefix and store.prefix are both my_, ",
        "store.archive=all | the property store.archive is 'all', it must be none, metadata or full",
        "relay.workers=two | the property relay.workers is two, a whole number is needed",
        "relay.lease=30 | the property relay.lease is 30, a time is needed, as 500ms, 30s, 5m, 1h or 7d",
        "publisher.timeout=26s | the property publisher.timeout is 26s, it must be below relay.publishTimeout, which is 25s: shorten it or lengthen relay.lease",
        "server.port=70000 | the port is 70000, it must be 0 to 65535",
        "server.port=1;ui.enabled=true;ui.allowChanges=yes | the property ui.allowChanges is 'yes', it must be true or false",
        "ui.enabled=true | the property ui.enabled is true, and server.port is missing",
        "server.port=1;ui.token=x | a property begins with ui., and the page is off: set ui.enabled to true"
      })
  void refused(String lines, String sentence) {
    assertThatThrownBy(() -> RelayConfig.check("", config(LEAST + lines.replace(';', '\n'))))
        .isInstanceOf(Failure.class)
        .hasMessageStartingWith(sentence);
  }

  @Test
  @DisplayName("plugins' properties are let through when they are named, also by how they begin")
  void plugins() throws Exception {
    String plugins =
        "kafka.basic.auth.user.info=a\nkafka.my.one=1\nkafka.config.providers.env.class=x\n";
    assertThat(
            config(LEAST + plugins + "publisher.pluginProperties=basic.auth., my.one")
                .text("kafka.basic.auth.user.info", ""))
        .isEqualTo("a");
  }

  private static final String HTTP =
      "store.url=jdbc:postgresql://h/d\npublisher=http\ndestination=http://127.0.0.1:1/\n"
          + "publisher.cloudEventsSource=https://shop.example\n";

  private static List<String> limits(MessagePublisher publisher) throws Exception {
    try (publisher) {
      List<StoredMessage> messages = new ArrayList<>();
      for (String type : List.of("invoice", "order", "invoice", "order")) {
        long sequence = messages.size() + 1;
        OutboxMessage.Builder message = OutboxMessage.builder().aggregate(type, "" + sequence);
        messages.add(
            StoredMessage.of(
                sequence, 0, Instant.EPOCH, message.eventType("Made").payload("{}").build()));
      }
      return publisher.publish(messages).stream()
          .map(one -> one instanceof Result.Unavailable u ? String.valueOf(u.destination()) : "")
          .map(destination -> destination.contains("limit") ? destination : "")
          .toList();
    }
  }

  @Test
  @DisplayName("a publisher has limits, of all messages and of an aggregate type")
  void rates() throws Exception {
    assertThat(limits(config(HTTP + "rate.invoice=1/d").publisher()))
        .containsExactly("", "", "the limit of invoice", "");
    assertThat(limits(config(HTTP + "publisher.http.rate=1/d\nrate.invoice=2/d").publisher()))
        .containsExactly("", "", "", "the limit of all others");
  }

  @Test
  @DisplayName("several publishers have properties in common, and each its own")
  void several() throws Exception {
    String both =
        LEAST
            + "publisher=kafka,second\npublisher.second.kind=kafka\n"
            + "publisher.second.types=audit\npublisher.second.kafka.bootstrap.servers=127.0.0.1:2\n"
            + "destination=shop.{aggregateType}\npublisher.second.destination={aggregateType}\n";
    MessagePublisher publisher = config(both).publisher();
    try {
      assertThat(publisher.address()).isEqualTo("kafka 127.0.0.1:1, second 127.0.0.1:2");
    } finally {
      publisher.close();
    }
    MessagePublisher plugged =
        config(both + "publisher.pluginProperties=my.\npublisher.second.kafka.my.one=1")
            .publisher();
    plugged.close();
  }

  private static Map<String, RelayConfig> all(String text, Map<String, String> environment)
      throws Exception {
    return RelayConfig.all(properties(text), environment::get);
  }

  private static Map<String, RelayConfig> all(String text) throws Exception {
    return all("databases=orders,billing\n" + text, Map.of());
  }

  private static final String SECTIONS =
      LEAST.replace("store.url", "database.orders.store.url")
          + "database.billing.store.url=jdbc:mysql://h/d\n";

  @Test
  @DisplayName("several databases have properties in common, and each its own")
  void databases() throws Exception {
    Map<String, RelayConfig> all =
        all(SECTIONS + "relay.workers=3\ndatabase.billing.relay.workers=1\nserver.port=1");
    assertThat(all.keySet()).containsExactly("orders", "billing");
    assertThat(all.get("orders").workers()).isEqualTo(3);
    assertThat(all.get("billing").workers()).isEqualTo(1);
    assertThat(all.get("billing").address()).hasToString("jdbc:mysql://h/d");
    assertThat(all.get("billing").text("kafka.bootstrap.servers", "")).isEqualTo("127.0.0.1:1");
    assertThat(all("store.url=jdbc:mysql://h/d\ndatabase.billing.store.schema=b")).hasSize(2);
    assertThat(all(LEAST + "databases=", Map.of())).containsOnlyKeys("");
    assertThat(all("databases=${NAMES}\n" + SECTIONS, Map.of("NAMES", "orders,billing")))
        .containsOnlyKeys("orders", "billing");
  }

  @ParameterizedTest
  @DisplayName("what is wrong with a section is said with its name")
  @CsvSource({
    "database.billing.relay.batchsize=1, 'the database billing: there is no property relay.batchsize: did you mean relay.batchSize?'",
    "database.billing.store.url=jdbc:postgresql://h/d, 'the database billing: it is where orders is, too: give each a store.url'",
    "database.billing.store.url=, 'the database billing: the property store.url is missing: it is needed'",
    "database.billing.databases=x, 'the database billing: the property databases is for the process: give it without database.billing.'",
    "database.billing.server.port=1, 'the database billing: the property server.port is for the process: give it without database.billing.'",
    "database.stock.store.url=u, 'the database orders: the property database.stock.store.url is for a database that databases does not name: remove it, or name that one'",
    "'databases=orders,orders,billing', 'the database orders: it is where orders is, too: give each a store.url'",
    "'databases=a.b', 'the property databases has ''a.b'', a name has only letters, digits, _ and -'"
  })
  void wrongSection(String line, String sentence) {
    assertThatThrownBy(() -> all(SECTIONS + line)).isInstanceOf(Failure.class).hasMessage(sentence);
  }

  @Test
  @DisplayName("variables are filled in as they are; one that is not set is an error")
  void variables() throws Exception {
    RelayConfig config = config(LEAST + "store.password=a${ONE}b", Map.of("ONE", "$1\\${TWO}"));
    assertThat(config.text("store.password", "")).isEqualTo("a$1\\${TWO}b");
    assertThat(config(LEAST + "store.user=${ONE}", Map.of("ONE", "of a file\n")).address().user())
        .isEqualTo("of a file");
    assertThat(Secrets.mask("it was a$1\\${TWO}b")).isEqualTo("it was ***");
    assertThat(RelayConfig.logLevel(properties("log.level=${LEVEL}"), Map.of("LEVEL", "warn")::get))
        .isEqualTo("warn");
    Properties process = properties("log.level=${OUTBOX_TEST_NOT_SET}");
    assertThatThrownBy(() -> RelayProcess.start(process).close())
        .hasMessageContaining("the property log.level names the variable OUTBOX_TEST_NOT_SET");
  }
}
