package dev.outbox.debezium;

import dev.outbox.publisher.core.Attributes;
import dev.outbox.publisher.core.Destination;
import java.net.URI;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigDef.Importance;
import org.apache.kafka.common.config.ConfigDef.Type;
import org.apache.kafka.common.config.ConfigException;
import org.jspecify.annotations.Nullable;

/**
 * What the user may choose.
 *
 * @param cloudEventsSource null: records are no CloudEvents
 * @param deadLetterTopic null: what cannot be published stops the task
 */
record Settings(
    Destination destination, @Nullable URI cloudEventsSource, @Nullable String deadLetterTopic) {

  static final String CLOUD_EVENTS_SOURCE = "cloudEventsSource";
  static final String DEAD_LETTER_TOPIC = "deadLetterTopic";

  /** Settings that Connect has for each transform, and hands over with its own. */
  private static final Set<String> CONNECTS =
      Set.of("type", "predicate", "negate", "plugin.version");

  private static final Pattern TOPIC = Pattern.compile("[a-zA-Z0-9._-]{1,249}");

  static final ConfigDef DEFINITION =
      new ConfigDef()
          .define(
              Destination.PROPERTY,
              Type.STRING,
              "{aggregateType}",
              Importance.HIGH,
              "The topic, with placeholders; destination.TYPE is that of an aggregate type.")
          .define(
              CLOUD_EVENTS_SOURCE,
              Type.STRING,
              "",
              Importance.LOW,
              "Makes each record a CloudEvent of this source, in binary mode.")
          .define(
              DEAD_LETTER_TOPIC,
              Type.STRING,
              "",
              Importance.MEDIUM,
              "The topic of messages that cannot be published; without one they stop the task.");

  /** Whether Kafka allows the name: otherwise its producer would throw, and the task would stop. */
  static boolean isTopic(String name) {
    return TOPIC.matcher(name).matches() && !name.equals(".") && !name.equals("..");
  }

  /**
   * @throws ConfigException naming the setting, its value and what to do
   */
  static Settings of(Map<String, ?> given) {
    Map<String, String> all = new TreeMap<>();
    given.forEach(
        (name, value) -> {
          if (value != null) {
            all.put(name, value.toString().strip());
          }
        });
    all.keySet().removeAll(CONNECTS);
    for (String name : all.keySet()) {
      if (!DEFINITION.names().contains(name) && !name.startsWith(Destination.PROPERTY + ".")) {
        throw new ConfigException(
            "there is no setting %s: take %s, destination.TYPE, %s or %s"
                .formatted(name, Destination.PROPERTY, CLOUD_EVENTS_SOURCE, DEAD_LETTER_TOPIC));
      }
    }
    String topic = all.getOrDefault(DEAD_LETTER_TOPIC, "");
    if (!topic.isEmpty() && !isTopic(topic)) {
      throw new ConfigException(
          "%s is %s, which Kafka does not allow: name a topic".formatted(DEAD_LETTER_TOPIC, topic));
    }
    try {
      return new Settings(
          Destination.fromProperties(all),
          Attributes.cloudEventsSource(all, CLOUD_EVENTS_SOURCE),
          topic.isEmpty() ? null : topic);
    } catch (IllegalArgumentException e) {
      throw new ConfigException(String.valueOf(e.getMessage()));
    }
  }
}
