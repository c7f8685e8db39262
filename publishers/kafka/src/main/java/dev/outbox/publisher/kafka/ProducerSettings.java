package dev.outbox.publisher.kafka;

import static org.apache.kafka.clients.admin.AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG;
import static org.apache.kafka.clients.producer.ProducerConfig.ACKS_CONFIG;
import static org.apache.kafka.clients.producer.ProducerConfig.BATCH_SIZE_CONFIG;
import static org.apache.kafka.clients.producer.ProducerConfig.BOOTSTRAP_SERVERS_CONFIG;
import static org.apache.kafka.clients.producer.ProducerConfig.BUFFER_MEMORY_CONFIG;
import static org.apache.kafka.clients.producer.ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG;
import static org.apache.kafka.clients.producer.ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG;
import static org.apache.kafka.clients.producer.ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG;
import static org.apache.kafka.clients.producer.ProducerConfig.LINGER_MS_CONFIG;
import static org.apache.kafka.clients.producer.ProducerConfig.MAX_BLOCK_MS_CONFIG;
import static org.apache.kafka.clients.producer.ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION;
import static org.apache.kafka.clients.producer.ProducerConfig.MAX_REQUEST_SIZE_CONFIG;
import static org.apache.kafka.clients.producer.ProducerConfig.PARTITIONER_CLASS_CONFIG;
import static org.apache.kafka.clients.producer.ProducerConfig.PARTITIONER_IGNORE_KEYS_CONFIG;
import static org.apache.kafka.clients.producer.ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG;
import static org.apache.kafka.clients.producer.ProducerConfig.RETRY_BACKOFF_MAX_MS_CONFIG;
import static org.apache.kafka.clients.producer.ProducerConfig.RETRY_BACKOFF_MS_CONFIG;
import static org.apache.kafka.clients.producer.ProducerConfig.SOCKET_CONNECTION_SETUP_TIMEOUT_MAX_MS_CONFIG;
import static org.apache.kafka.clients.producer.ProducerConfig.SOCKET_CONNECTION_SETUP_TIMEOUT_MS_CONFIG;
import static org.apache.kafka.clients.producer.ProducerConfig.TRANSACTIONAL_ID_CONFIG;
import static org.apache.kafka.clients.producer.ProducerConfig.TRANSACTION_TIMEOUT_CONFIG;
import static org.apache.kafka.clients.producer.ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG;

import dev.outbox.OutboxMessage;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/** The user's producer settings, checked, with ours added. */
final class ProducerSettings {

  /** The largest record: payload, headers, and room for the key, the texts and the framing. */
  static final int MIN_REQUEST_SIZE =
      OutboxMessage.MAX_PAYLOAD + OutboxMessage.MAX_HEADERS + 24_000;

  /**
   * With one request in flight a partition gets one batch a round trip, so batches are large. The
   * buffer of 32 MB has room for one to each partition of a call of 500 messages.
   */
  private static final int BATCH_SIZE = 64 * 1024;

  /** The least time for a question to the cluster, in nanoseconds. */
  private static final long MIN_QUESTION = TimeUnit.SECONDS.toNanos(3);

  /** The publisher's own; and it has no transactions. */
  private static final List<String> OURS =
      List.of(
          KEY_SERIALIZER_CLASS_CONFIG,
          VALUE_SERIALIZER_CLASS_CONFIG,
          MAX_BLOCK_MS_CONFIG,
          TRANSACTIONAL_ID_CONFIG,
          TRANSACTION_TIMEOUT_CONFIG);

  private final Map<String, Object> given;
  private final Timing timing;

  ProducerSettings(Map<String, Object> given, Timing timing) {
    this.given = Map.copyOf(given);
    this.timing = timing;
    check();
  }

  /** Where the brokers are. */
  String address() {
    return String.valueOf(text(BOOTSTRAP_SERVERS_CONFIG));
  }

  /**
   * For a producer whose methods never block; {@code max.block.ms=0} makes lookups asynchronous.
   */
  Map<String, Object> plain() {
    long delivery = timing.timeout() / 4 * 3;
    Map<String, Object> all = new HashMap<>();
    all.put(LINGER_MS_CONFIG, 0);
    all.put(BATCH_SIZE_CONFIG, BATCH_SIZE);
    all.put(DELIVERY_TIMEOUT_MS_CONFIG, Timing.millis(delivery));
    all.put(REQUEST_TIMEOUT_MS_CONFIG, Timing.millis(delivery / 3));
    // Whoever does not hear the broker for longer than the silence takes it for gone.
    int backoff = Math.min(1_000, Timing.millis(timing.silence() / 2));
    all.put(RETRY_BACKOFF_MAX_MS_CONFIG, backoff);
    all.put(RETRY_BACKOFF_MS_CONFIG, Math.min(100, backoff));
    all.putAll(given);
    all.put(MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION, 1);
    all.put(ENABLE_IDEMPOTENCE_CONFIG, true);
    all.put(ACKS_CONFIG, "all");
    all.put(MAX_BLOCK_MS_CONFIG, 0);
    all.put(KEY_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
    all.put(VALUE_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
    return all;
  }

  /** The same, and each record is a batch of its own. */
  Map<String, Object> singles() {
    Map<String, Object> all = plain();
    all.put(BATCH_SIZE_CONFIG, 0);
    return all;
  }

  /**
   * For a client that asks how the cluster is; it soon turns from a broker that hangs to another.
   */
  Map<String, Object> admin() {
    Map<String, Object> all = new HashMap<>(given);
    Set<String> producersOnly = new HashSet<>(ProducerConfig.configNames());
    producersOnly.removeAll(AdminClientConfig.configNames());
    all.keySet().removeAll(producersOnly);
    int patience = Timing.millis(Math.max(timing.silence(), MIN_QUESTION));
    all.put(DEFAULT_API_TIMEOUT_MS_CONFIG, patience);
    all.put(REQUEST_TIMEOUT_MS_CONFIG, patience / 3);
    all.put(SOCKET_CONNECTION_SETUP_TIMEOUT_MS_CONFIG, patience / 3);
    all.put(SOCKET_CONNECTION_SETUP_TIMEOUT_MAX_MS_CONFIG, patience / 3);
    return all;
  }

  private void check() {
    if (text(BOOTSTRAP_SERVERS_CONFIG) == null) {
      throw new IllegalArgumentException(
          "bootstrap.servers is missing: name the brokers, as in localhost:9092");
    }
    for (String name : OURS) {
      if (given.containsKey(name)) {
        throw wrong(name, "is for the publisher alone to set: leave it out");
      }
    }
    if (given.containsKey(PARTITIONER_CLASS_CONFIG)) {
      throw wrong(
          PARTITIONER_CLASS_CONFIG,
          "is not asked, as each record names its partition: leave it out, or give the publisher a function, partition");
    }
    requireOneOf(ENABLE_IDEMPOTENCE_CONFIG, List.of("true"), "without it, retries repeat records");
    requireOneOf(ACKS_CONFIG, List.of("all", "-1"), "less acknowledges what can still be lost");
    requireOneOf(
        MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION,
        List.of("1"),
        "with more, records get through that are behind one that fails");
    requireOneOf(
        PARTITIONER_IGNORE_KEYS_CONFIG,
        List.of("false"),
        "the order of a key needs one partition for it");
    for (String name : List.of(MAX_REQUEST_SIZE_CONFIG, BUFFER_MEMORY_CONFIG)) {
      Long size = number(name);
      if (size != null && size < MIN_REQUEST_SIZE) {
        throw wrong(
            name,
            "must be at least %s, for the largest message: leave it out or raise it"
                .formatted(MIN_REQUEST_SIZE));
      }
    }
    for (String name : List.of(DELIVERY_TIMEOUT_MS_CONFIG, REQUEST_TIMEOUT_MS_CONFIG)) {
      int longest = Timing.millis(timing.timeout() / 2);
      Long millis = number(name);
      if (millis != null && millis > longest) {
        throw wrong(
            name,
            "must be at most %s, half of the publisher's timeout: leave it out or lengthen the timeout"
                .formatted(longest));
      }
    }
  }

  /** The first of those allowed is the one that the sentence names. */
  private void requireOneOf(String name, List<String> allowed, String why) {
    String value = text(name);
    if (value != null && !allowed.contains(value.toLowerCase(Locale.ROOT))) {
      throw wrong(name, "must be %s, %s: leave it out".formatted(allowed.get(0), why));
    }
  }

  private IllegalArgumentException wrong(String name, String problem) {
    return new IllegalArgumentException(
        "%s is %s, it %s".formatted(name, given.get(name), problem));
  }

  private @Nullable String text(String name) {
    Object value = given.get(name);
    return value == null ? null : value.toString().strip();
  }

  private @Nullable Long number(String name) {
    String text = text(name);
    try {
      return text == null ? null : Long.valueOf(text);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("%s is %s, it must be a number".formatted(name, text));
    }
  }

  /** Kafka's own words about its settings, without any part of a value that may be secret. */
  String scrub(String text) {
    String scrubbed = text;
    for (Map.Entry<String, Object> entry : given.entrySet()) {
      if (maySecret(entry.getKey())) {
        for (String part : entry.getValue().toString().split("[\\s\"';=,]+")) {
          scrubbed = part.length() < 3 ? scrubbed : scrubbed.replace(part, "***");
        }
      }
    }
    return scrubbed;
  }

  private static boolean maySecret(String name) {
    String lower = name.toLowerCase(Locale.ROOT);
    return List.of("password", "jaas", "secret", "key", "token", "credential", "oauth", "user")
        .stream()
        .anyMatch(lower::contains);
  }
}
