package dev.outbox.tck.internal;

import dev.outbox.spi.store.StoredMessage;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The messages of a test, numbered in the order of their append: who reads knows no ids. */
public final class Numbers {
  private static final Pattern ID =
      Pattern.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");

  private final Map<UUID, Integer> numbers = Collections.synchronizedMap(new LinkedHashMap<>());

  void forget() {
    numbers.clear();
  }

  public void add(UUID id) {
    synchronized (numbers) {
      numbers.putIfAbsent(id, numbers.size() + 1);
    }
  }

  /** What stands for the id that nobody can read. */
  public static UUID undecodable(StoredMessage row) {
    return new UUID(0, row.sequence());
  }

  /** A number, or the id of what nobody appended. */
  private String of(UUID id) {
    if (id.getMostSignificantBits() == 0) {
      return "the undecodable row with sequence " + id.getLeastSignificantBits();
    }
    Integer number = numbers.get(id);
    return number == null ? id.toString() : number.toString();
  }

  String in(String text) {
    return ID.matcher(text)
        .replaceAll(found -> Matcher.quoteReplacement(of(UUID.fromString(found.group()))));
  }
}
