package dev.outbox.store.postgres.torture;

import static java.util.stream.Collectors.toMap;
import static java.util.stream.Collectors.toSet;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import javax.sql.DataSource;

/** Compares what was committed with what the journal tells. */
final class Oracle {
  private final Map<UUID, Work> committed;
  private final Set<UUID> delivered = new HashSet<>();
  private final Map<String, List<Span>> spans = new HashMap<>();

  /** What is wrong, a sentence each. */
  final List<String> violations = new ArrayList<>();

  int deliveries;
  int claims;

  private record Span(UUID claim, long begin, long end) {}

  Oracle(List<Work> committed) {
    this.committed = committed.stream().collect(toMap(Work::id, work -> work));
  }

  /** First deliveries of a key come in order, of what was committed only. */
  void readDeliveries(DataSource dataSource) throws SQLException {
    Map<String, Integer> last = new HashMap<>();
    String sql = "select number, process, key, nth, id from torture_delivery order by number";
    forEach(
        dataSource,
        sql,
        row -> {
          deliveries++;
          UUID id = row.getObject("id", UUID.class);
          Work work = committed.get(id);
          String what = row.getString("process") + ", row " + row.getLong("number") + ": " + work;
          if (work == null) {
            violations.add("leaked, never committed: " + what + id);
          } else if (delivered.add(id) && !work.kind().overtaken()) {
            Integer before = last.put(work.key(), work.nth());
            if (before != null && before > work.nth()) {
              violations.add("out of order, after " + before + ": " + what);
            }
          }
        });
  }

  /** Each committed message was delivered, or is a dead letter for a reason. */
  void compare(Set<UUID> dead, Set<UUID> discarded) {
    Set<UUID> doomed =
        committed.values().stream()
            .filter(work -> work.kind() == Work.Kind.DOOMED)
            .map(Work::id)
            .collect(toSet());
    for (Work work : committed.values()) {
      boolean gone = dead.contains(work.id()) || discarded.contains(work.id());
      if (delivered.contains(work.id()) == gone) {
        violations.add((gone ? "delivered and dead: " : "lost: ") + work);
      }
    }
    if (!dead.equals(doomed)) {
      Set<UUID> wrong = new HashSet<>(dead);
      wrong.removeAll(doomed);
      violations.add(
          "dead letters that should not be: " + wrong.stream().map(committed::get).toList());
      doomed.removeAll(dead);
      violations.add("doomed, but not dead: " + doomed.stream().map(committed::get).toList());
    }
  }

  /** No key is in two claims at once that were both accepted (C1). */
  void readClaims(DataSource dataSource) throws SQLException {
    Map<UUID, Long> begins = new HashMap<>();
    Map<UUID, Long> ends = new HashMap<>();
    String sql = "select number, claim, event, keys from torture_claim order by number";
    forEach(
        dataSource,
        sql,
        row -> {
          UUID claim = row.getObject("claim", UUID.class);
          long number = row.getLong("number");
          switch (row.getString("event")) {
            case "begin" -> begins.put(claim, number);
            case "end" -> ends.putIfAbsent(claim, number);
            default -> {
              claims++;
              for (String key : (String[]) row.getArray("keys").getArray()) {
                spans
                    .computeIfAbsent(key, k -> new ArrayList<>())
                    .add(new Span(claim, begins.get(claim), ends.get(claim)));
              }
            }
          }
        });
    spans.forEach(this::compareSpans);
  }

  private void compareSpans(String key, List<Span> of) {
    Span[] sorted =
        of.stream().sorted(java.util.Comparator.comparingLong(Span::begin)).toArray(Span[]::new);
    long latest = 0;
    for (Span span : sorted) {
      if (span.begin() < latest) {
        violations.add("key %s is in two live claims: %s".formatted(key, Arrays.toString(sorted)));
        return;
      }
      latest = Math.max(latest, span.end());
    }
  }

  private interface Row {
    void read(ResultSet row) throws SQLException;
  }

  private static void forEach(DataSource dataSource, String sql, Row row) throws SQLException {
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      while (rows.next()) {
        row.read(rows);
      }
    }
  }

  int delivered() {
    return delivered.size();
  }
}
