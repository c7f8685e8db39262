package dev.outbox.debezium;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.source.SourceRecord;

/** Records as Debezium's connectors give them; what they are like, the engine's tests show. */
final class Changes {
  static final String ID = "01234567-89ab-cdef-0123-456789abcdef";
  static final long MICROS = 1_795_853_350_123_456L;

  private static final Schema ZONED =
      SchemaBuilder.string().name("io.debezium.time.ZonedTimestamp").build();
  private static final Schema MICRO =
      SchemaBuilder.int64().name("io.debezium.time.MicroTimestamp").build();

  private final Map<String, Object> values = new LinkedHashMap<>();
  private final Map<String, Schema> schemas = new HashMap<>();

  private Changes(Schema time, Object createdAt) {
    put("bucket", Schema.INT16_SCHEMA, (short) 7);
    put("seq", Schema.INT64_SCHEMA, 42L);
    put("status", Schema.STRING_SCHEMA, "PENDING");
    put("id", Schema.STRING_SCHEMA, ID);
    put("aggregate_type", Schema.STRING_SCHEMA, "order");
    put("aggregate_id", Schema.STRING_SCHEMA, "4711");
    put("event_type", Schema.STRING_SCHEMA, "OrderPlaced");
    put("partition_key", Schema.OPTIONAL_STRING_SCHEMA, null);
    put("payload", Schema.BYTES_SCHEMA, ByteBuffer.wrap("{}".getBytes(UTF_8)));
    put("content_type", Schema.STRING_SCHEMA, "application/json");
    put("headers", Schema.STRING_SCHEMA, "[[\"b\",\"1\"],[\"a\",\"2\"],[\"b\",\"3\"]]");
    put("dedup_key", Schema.OPTIONAL_STRING_SCHEMA, null);
    put("correlation_id", Schema.OPTIONAL_STRING_SCHEMA, null);
    put("created_at", time, createdAt);
  }

  static Changes postgres() {
    return new Changes(ZONED, "2026-11-28T05:29:10.123456Z");
  }

  static Changes mysql() {
    return new Changes(MICRO, MICROS);
  }

  Changes with(String column, Object value) {
    values.put(column, value);
    return this;
  }

  Changes put(String column, Schema schema, Object value) {
    schemas.put(column, schema);
    return with(column, value);
  }

  Changes without(String column) {
    values.remove(column);
    return this;
  }

  private Struct row() {
    SchemaBuilder schema = SchemaBuilder.struct().name("shop.public.outbox_message.Value");
    values.keySet().forEach(column -> schema.field(column, schemas.get(column)));
    Struct row = new Struct(schema.optional().build());
    values.forEach(row::put);
    return row;
  }

  /** {@code c}, {@code r}, {@code u} or {@code d}. */
  SourceRecord record(String operation) {
    Struct row = row();
    Schema envelope =
        SchemaBuilder.struct()
            .name("shop.public.outbox_message.Envelope")
            .field("before", row.schema())
            .field("after", row.schema())
            .field("op", Schema.STRING_SCHEMA)
            .build();
    Struct change =
        new Struct(envelope)
            .put("op", operation)
            .put(operation.equals("d") ? "before" : "after", row);
    return record(envelope, change);
  }

  SourceRecord inserted() {
    return record("c");
  }

  static SourceRecord record(Schema schema, Object value) {
    return new SourceRecord(
        Map.of("server", "shop"),
        Map.of("lsn", 1L),
        "shop.public.outbox_message",
        Schema.STRING_SCHEMA,
        "a key",
        schema,
        value);
  }
}
