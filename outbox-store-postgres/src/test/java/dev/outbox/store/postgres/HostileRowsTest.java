package dev.outbox.store.postgres;

import dev.outbox.store.jdbc.HostileRowsTests;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;

@DisplayName("Hostile rows")
class HostileRowsTest extends HostileRowsTests {
  HostileRowsTest() {
    super(new Postgres());
  }

  @Override
  protected String time(String utc) {
    return "timestamptz '" + utc + "+00'";
  }

  @Override
  protected String bytes(int count) {
    return "decode(repeat('00', %d), 'hex')".formatted(count);
  }

  @Override
  protected Fate wrong() {
    return Fate.DEAD;
  }

  @Override
  protected Fate never() {
    return Fate.LATER;
  }

  @Override
  protected Hostile twins(String key, String other) {
    return new Hostile(
        "two with one sequence",
        Fate.REFUSED,
        """
        insert into outbox_message (seq, aggregate_type, aggregate_id, event_type, payload)
          overriding system value
        values (1, 'order', '%s', 'e', ''), (1, 'order', '%s', 'e', '')
        """
            .formatted(key, other),
        List.of());
  }

  @Override
  protected List<Hostile> rows() {
    List<Hostile> rows = new ArrayList<>();
    rows.add(row(Fate.REFUSED, "attempts", "2147483648"));
    rows.add(row(Fate.DEAD, "headers", "'[[\"n\",\"\\ud800\"]]'"));
    rows.add(row(Fate.DEAD, "headers", "'" + "[".repeat(5_000) + "]".repeat(5_000) + "'"));
    for (String column : List.of("aggregate_id", "partition_key", "content_type", "last_error")) {
      rows.add(row(Fate.REFUSED, column, "?", "a\0b"));
      // A varchar cuts off blanks that are too many, and nothing else.
      rows.add(row(Fate.DELIVERED, column, "repeat('x', 254) || '   '"));
      rows.add(row(Fate.REFUSED, column, "convert_from('\\xff', 'UTF8')"));
      rows.add(row(Fate.REFUSED, column, "convert_from('\\xeda080', 'UTF8')"));
    }
    for (String early : List.of("'-infinity'", "'4713-01-01 BC'", "'0001-12-31 BC'")) {
      rows.add(row(Fate.DEAD, "available_at", early));
      rows.add(with(Fate.DEAD, "SCHEDULED", "available_at", early));
    }
    for (String late : List.of("'infinity'", "'294276-12-31'", "'10000-01-01'")) {
      rows.add(row(Fate.LATER, "available_at", late));
      rows.add(with(Fate.LATER, "SCHEDULED", "available_at", late));
    }
    for (String time : List.of("'infinity'", "'-infinity'", "'4713-01-01 BC'", "'294276-12-31'")) {
      rows.add(row(Fate.DEAD, "created_at", time));
      rows.add(with(Fate.DEAD, "DEAD", "created_at", time));
      // Of a key that waits, all are claimed, whatever their time.
      rows.add(with(Fate.DEAD, "BLOCKED", "available_at", time));
      rows.add(row(Fate.DELIVERED, "last_failed_at", time));
    }
    for (String column : List.of("aggregate_id", "partition_key", "dedup_key")) {
      rows.add(row(Fate.DEAD, column, "?", " ".repeat(300)));
    }
    rows.add(row(Fate.REFUSED, "id", "null"));
    rows.add(row(Fate.REFUSED, "id", "'x'::text::uuid"));
    rows.add(row(Fate.DELIVERED, "id", "'00000000-0000-0000-0000-000000000000'"));
    rows.add(row(Fate.REFUSED, "bucket", "1"));
    rows.add(row(Fate.REFUSED, "seq", "1"));
    for (String seq : List.of("-9223372036854775808", "-1", "0")) {
      rows.add(overridden(Fate.REFUSED, seq));
    }
    for (String seq : List.of("9223372036854775806", "9223372036854775807")) {
      rows.add(overridden(Fate.DELIVERED, seq));
    }
    for (String txid : List.of("'0'", "'18446744073709551615'")) {
      rows.add(row(Fate.DELIVERED, "txid", txid));
    }
    rows.add(
        row(
            "dead, failed at infinity",
            Fate.DEAD,
            Map.of("status", "'DEAD'", "last_failed_at", "'infinity'")));
    return rows;
  }

  private static Hostile with(Fate fate, String status, String column, String expression) {
    return row(
        "%s and %s = %s".formatted(status, column, expression),
        fate,
        Map.of("status", "'" + status + "'", column, expression));
  }

  private static Hostile overridden(Fate fate, String seq) {
    Hostile row = row(fate, "seq", seq);
    return new Hostile(
        row.what() + " overriding",
        fate,
        row.sql().replace(" values ", " overriding system value values "),
        List.of());
  }

  @Override
  protected List<Hostile> damages() {
    List<Hostile> damages = new ArrayList<>();
    for (String value : List.of("'-infinity'", "'infinity'")) {
      damages.add(damage(Fate.REFUSED, "update outbox_bucket set served_at = " + value));
      damages.add(damage(Fate.REFUSED, "update outbox_bucket set lease_until = " + value));
      damages.add(
          damage(
              Fate.REFUSED, "update outbox_bucket set lease_until = now(), leased_at = " + value));
      damages.add(damage(Fate.REFUSED, "update outbox_blocked_key set retry_at = " + value));
    }
    damages.add(
        damage(Fate.REFUSED, "update outbox_bucket set lease_until = now() + interval '9 years'"));
    for (String value : List.of("-9223372036854775808", "-1", "9223372036854775807")) {
      damages.add(damage("update outbox_bucket set low_water = " + value));
      damages.add(
          damage(
              "update outbox_bucket set low_water_history = (select pg_relation_filenode(pg_get_serial_sequence('outbox_message', 'seq')::regclass) || ' ' || extract(epoch from pg_postmaster_start_time())), low_water = "
                  + value));
    }
    damages.add(damage("update outbox_bucket set low_water_history = repeat('x', 10000)"));
    damages.add(damage("update outbox_bucket set worker = repeat('x', 100000)"));
    damages.add(
        damage(
            "insert into outbox_blocked_key (bucket, key, retry_at, low_seq) values (63, '', now(), 0), (5, repeat(chr(7), 2000), now(), 0)"));
    damages.add(
        damage(
            "insert into outbox_dedup (dedup_key, created_at) values ('i', 'infinity'), ('j', '-infinity')"));
    return damages;
  }
}
