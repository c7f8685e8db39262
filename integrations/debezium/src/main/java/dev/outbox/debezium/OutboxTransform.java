package dev.outbox.debezium;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.outbox.publisher.core.Attributes;
import dev.outbox.publisher.core.Destination;
import dev.outbox.spi.store.StoredMessage;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.errors.DataException;
import org.apache.kafka.connect.header.ConnectHeaders;
import org.apache.kafka.connect.header.Headers;
import org.apache.kafka.connect.transforms.Transformation;
import org.jspecify.annotations.Nullable;

/**
 * A transform of Kafka Connect for Debezium's connectors of PostgreSQL, MySQL and MariaDB. For each
 * row that was inserted into the message table it makes the same record as the Kafka publisher
 * (P4). Key and value are bytes, headers are texts: keep Connect's own header converter, and take
 * Debezium's {@code BinaryDataConverter} for key and value.
 *
 * <p>Other changes of rows are dropped: updates, deletions, tombstones, rows that moved to another
 * primary key, and dead letters. What is no change of a row, such as a heartbeat, passes as it is.
 *
 * <table>
 *   <caption>Settings, below {@code transforms.NAME.}</caption>
 *   <tr><td>{@code destination}</td><td>the topic, with placeholders as in {@link Destination};
 *       default: the aggregate type</td></tr>
 *   <tr><td>{@code destination.TYPE}</td><td>the topic of messages of one aggregate type</td></tr>
 *   <tr><td>{@code cloudEventsSource}</td><td>adds the headers of a CloudEvent with this source, a
 *       URI; default: none</td></tr>
 *   <tr><td>{@code deadLetterTopic}</td><td>where messages go that cannot be decoded or have no
 *       usable destination, with the header {@code outbox-error}; default: they stop the task</td></tr>
 * </table>
 *
 * <p>Once configured it is safe for use by many threads, which Debezium's engine has and Connect
 * has not.
 */
public final class OutboxTransform<R extends ConnectRecord<R>> implements Transformation<R> {

  /** Why a record is in the dead letters' topic. */
  static final String ERROR_HEADER = "outbox-error";

  /** The header by which Debezium marks the insert that is half of an update of the primary key. */
  private static final String MOVED = "__debezium.oldkey";

  private static final String NO_TOPIC =
      ", and Kafka allows 1 to 249 letters, digits, dots, hyphens and underscores";

  private Settings settings = Settings.of(Map.of());

  /** Made by Connect, which calls {@link #configure} next. */
  public OutboxTransform() {}

  @Override
  public ConfigDef config() {
    return Settings.DEFINITION;
  }

  /**
   * Reads the settings.
   *
   * @throws org.apache.kafka.common.config.ConfigException naming the setting, its value and what
   *     to do
   */
  @Override
  public void configure(Map<String, ?> configs) {
    settings = Settings.of(configs);
  }

  /**
   * The publisher's record, the record given, or null: nothing is sent.
   *
   * @throws org.apache.kafka.connect.errors.ConnectException when a setting of the connector gives
   *     rows another form, naming it; and without {@code deadLetterTopic} when a message cannot be
   *     published
   */
  @Override
  public @Nullable R apply(R record) {
    Object value = record.value();
    if (value == null) {
      return null; // behind a deletion
    }
    if (!(value instanceof Struct change) || !isChange(change)) {
      return record;
    }
    if (!isInsert(change) || record.headers().lastWithName(MOVED) != null) {
      return null;
    }
    Struct row = change.getStruct("after");
    return Rows.isDead(row) ? null : publish(record, row);
  }

  private static boolean isChange(Struct value) {
    return value.schema().field("op") != null && value.schema().field("after") != null;
  }

  /** Also one that a snapshot reads. */
  private static boolean isInsert(Struct change) {
    String operation = change.getString("op");
    return "c".equals(operation) || "r".equals(operation);
  }

  private R publish(R record, Struct row) {
    StoredMessage stored = Rows.message(row);
    String problem = stored.problem();
    if (problem != null) {
      return deadLetter(record, stored, stored.key(), Rows.payload(row), problem);
    }
    String key = stored.message().recordKey();
    byte[] payload = stored.message().payload();
    try {
      String topic = settings.destination().of(stored);
      return Settings.isTopic(topic)
          ? to(topic, record, key, payload, headers(stored))
          : deadLetter(record, stored, key, payload, "its topic would be " + topic + NO_TOPIC);
    } catch (Destination.MissingException e) {
      return deadLetter(record, stored, key, payload, String.valueOf(e.getMessage()));
    }
  }

  private R deadLetter(R record, StoredMessage stored, String key, byte[] payload, String why) {
    String topic = settings.deadLetterTopic();
    if (topic == null) {
      throw new DataException(
          "message %s, key %s, cannot be published, and the task stops: %s. Set deadLetterTopic, so that such messages go there and the others go on, and restart the task"
              .formatted(stored.sequence(), stored.key(), why));
    }
    return to(topic, record, key, payload, headers(stored).addString(ERROR_HEADER, why));
  }

  private Headers headers(StoredMessage stored) {
    Headers headers = new ConnectHeaders();
    if (stored.problem() != null) {
      return headers.addString("outbox-sequence", Long.toString(stored.sequence()));
    }
    Attributes.forEachHeader(stored, settings.cloudEventsSource(), headers::addString);
    return headers;
  }

  /**
   * Without a partition, so that the producer chooses by the key, and without a timestamp: the
   * publisher gives neither more.
   */
  private static <R extends ConnectRecord<R>> R to(
      String topic, R record, String key, byte[] payload, Headers headers) {
    return record.newRecord(
        topic,
        null,
        Schema.BYTES_SCHEMA,
        key.getBytes(UTF_8),
        Schema.BYTES_SCHEMA,
        payload,
        null,
        headers);
  }

  @Override
  public void close() {}
}
