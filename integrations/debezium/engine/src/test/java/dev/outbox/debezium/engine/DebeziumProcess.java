package dev.outbox.debezium.engine;

import dev.outbox.embedded.ParentJvm;
import io.debezium.embedded.Connect;
import io.debezium.engine.ChangeEvent;
import io.debezium.engine.DebeziumEngine;
import io.debezium.engine.DebeziumEngine.RecordCommitter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.connect.header.Header;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.storage.Converter;
import org.apache.kafka.connect.storage.SimpleHeaderConverter;

/**
 * Debezium's engine with what a worker of Kafka Connect has around a connector: the converters that
 * our page names, a producer as Connect configures it, offsets that are committed after the
 * acknowledgements. It is there to be killed. After each batch it says how many it has published.
 */
public final class DebeziumProcess
    implements DebeziumEngine.ChangeConsumer<ChangeEvent<SourceRecord, SourceRecord>> {

  /** What stands before the engine's own settings. */
  static final String ENGINE = "engine.";

  static final String BOOTSTRAP = "bootstrap";
  static final String PUBLISHED = "published ";

  private final ParentJvm parent;
  private final KafkaProducer<byte[], byte[]> producer;
  private final Converter keys;
  private final Converter values;
  private final SimpleHeaderConverter headers = new SimpleHeaderConverter();
  private long published;

  private DebeziumProcess(ParentJvm parent) throws ReflectiveOperationException {
    this.parent = parent;
    keys = converter(parent.settings(), "key.converter", true);
    values = converter(parent.settings(), "value.converter", false);
    producer =
        new KafkaProducer<>(
            Map.of(
                "bootstrap.servers",
                parent.get(BOOTSTRAP),
                "acks",
                "all",
                "enable.idempotence",
                "false",
                "max.in.flight.requests.per.connection",
                "1",
                "delivery.timeout.ms",
                Integer.toString(Integer.MAX_VALUE),
                "max.block.ms",
                Long.toString(Long.MAX_VALUE)),
            new ByteArraySerializer(),
            new ByteArraySerializer());
  }

  public static void main(String[] args) throws Exception {
    ParentJvm parent = ParentJvm.connect();
    Properties settings = new Properties();
    parent
        .settings()
        .forEach(
            (name, value) -> {
              if (name.startsWith(ENGINE)) {
                settings.put(name.substring(ENGINE.length()), value);
              }
            });
    try (DebeziumEngine<ChangeEvent<SourceRecord, SourceRecord>> engine =
        DebeziumEngine.create(Connect.class)
            .using(settings)
            .using((success, message, error) -> ended(message, error))
            .notifying(new DebeziumProcess(parent))
            .build()) {
      engine.run();
    }
    Runtime.getRuntime().halt(1); // it ends by itself only when something is wrong
  }

  private static void ended(String message, Throwable error) {
    System.err.println("the engine has ended: " + message);
    if (error != null) {
      error.printStackTrace();
    }
  }

  /** By the connector's settings, as Connect does. */
  private static Converter converter(Map<String, String> settings, String name, boolean isKey)
      throws ReflectiveOperationException {
    String prefix = ENGINE + name;
    Class<?> type = Class.forName(settings.get(prefix));
    Converter converter = (Converter) type.getDeclaredConstructor().newInstance();
    Map<String, String> own = new HashMap<>();
    settings.forEach(
        (setting, value) -> {
          if (setting.startsWith(prefix + ".")) {
            own.put(setting.substring(prefix.length() + 1), value);
          }
        });
    converter.configure(own, isKey);
    return converter;
  }

  @Override
  public void handleBatch(
      List<ChangeEvent<SourceRecord, SourceRecord>> events,
      RecordCommitter<ChangeEvent<SourceRecord, SourceRecord>> committer)
      throws InterruptedException {
    long before = published;
    List<Future<RecordMetadata>> sent = new ArrayList<>();
    for (ChangeEvent<SourceRecord, SourceRecord> event : events) {
      sent.add(producer.send(record(event.value())));
    }
    producer.flush();
    for (int i = 0; i < sent.size(); i++) {
      try {
        sent.get(i).get();
      } catch (ExecutionException e) {
        throw new IllegalStateException("Kafka refused " + events.get(i), e);
      }
      committer.markProcessed(events.get(i));
      published += isHeartbeat(events.get(i)) ? 0 : 1;
    }
    committer.markBatchFinished();
    if (published > before) { // heartbeats are no sign that anything goes on
      parent.say(PUBLISHED + published);
    }
  }

  private static boolean isHeartbeat(ChangeEvent<SourceRecord, SourceRecord> event) {
    return event.value().topic().startsWith("__debezium-heartbeat");
  }

  /** As Connect makes it of a source's record. */
  private ProducerRecord<byte[], byte[]> record(SourceRecord record) {
    RecordHeaders converted = new RecordHeaders();
    for (Header header : record.headers()) {
      converted.add(
          header.key(),
          headers.fromConnectHeader(record.topic(), header.key(), header.schema(), header.value()));
    }
    return new ProducerRecord<>(
        record.topic(),
        record.kafkaPartition(),
        record.timestamp(),
        keys.fromConnectData(record.topic(), record.keySchema(), record.key()),
        values.fromConnectData(record.topic(), record.valueSchema(), record.value()),
        converted);
  }
}
