package dev.outbox.example.producers;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** A message as the examples read it: a JSON object whose fields are named as the columns. */
final class Line {
  /** In ASCII: half a surrogate pair can be written no other way. */
  private static final ObjectMapper JSON =
      new ObjectMapper(
          JsonFactory.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build());

  private final Map<String, Object> fields = new LinkedHashMap<>();

  /** Of which only the id has to be its own. */
  static Line of(String aggregateId) {
    return new Line()
        .with("aggregate_type", "order")
        .with("aggregate_id", aggregateId)
        .with("event_type", "OrderPaid")
        .payload("{}".getBytes(UTF_8));
  }

  Line with(String column, Object value) {
    fields.put(column, value);
    return this;
  }

  Line payload(byte[] payload) {
    return with("payload_base64", Base64.getEncoder().encodeToString(payload));
  }

  /** Names and values by turns. */
  Line headers(String... texts) {
    List<List<String>> headers = new ArrayList<>();
    for (int i = 0; i < texts.length; i += 2) {
      headers.add(List.of(texts[i], texts[i + 1]));
    }
    return with("headers", headers);
  }

  String json() {
    try {
      return JSON.writeValueAsString(fields);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The same message, as Java code would append it. */
  OutboxMessage message(UUID id) {
    OutboxMessage.Builder builder =
        OutboxMessage.builder()
            .id(id)
            .aggregate(text("aggregate_type"), text("aggregate_id"))
            .eventType(text("event_type"))
            .payload(Base64.getDecoder().decode(text("payload_base64")))
            .contentType((String) fields.getOrDefault("content_type", "application/json"));
    if (fields.containsKey("partition_key")) {
      builder.partitionKey(text("partition_key"));
    }
    if (fields.containsKey("correlation_id")) {
      builder.correlationId(text("correlation_id"));
    }
    if (fields.containsKey("dedup_key")) {
      builder.dedupKey(text("dedup_key"));
    }
    for (Header header : headers()) {
      builder.header(header.name(), header.value());
    }
    return builder.build();
  }

  private List<Header> headers() {
    List<?> pairs = (List<?>) fields.getOrDefault("headers", List.of());
    return pairs.stream()
        .map(pair -> (List<?>) pair)
        .map(pair -> new Header((String) pair.get(0), (String) pair.get(1)))
        .toList();
  }

  private String text(String column) {
    return (String) fields.get(column);
  }

  /** What an example said of one line: one field. */
  static Map<?, ?> said(String json) throws JsonProcessingException {
    return JSON.readValue(json, Map.class);
  }
}
