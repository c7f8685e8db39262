package dev.outbox.example.producers;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.outbox.OutboxMessage;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** What drivers have changed, cut off or mixed up. */
final class Lines {
  private static final String EMOJI = "\ud83d\ude80";

  private static final List<String> TEXTS =
      List.of(
          "Gr\u00fc\u00dfe, \u4e16\u754c " + EMOJI,
          // One letter of two code points, which is another text than \u00e9.
          "e\u0301",
          "\u00e9",
          " spaces ",
          "C:\\new\\table \\x41 \\\\ \\",
          "it's \"quoted\", `so`; drop table outbox_message; --",
          "$1 %s %(payload)s ? ?? :id @id {a,b} NULL null",
          "control \u0001\t\r\n\u007f\u0085\u2028 end",
          "\ufeff\ufffe\uffff",
          EMOJI.repeat(OutboxMessage.MAX_TEXT),
          "a".repeat(OutboxMessage.MAX_TEXT));

  private Lines() {}

  /** All of these arrive exactly. */
  static List<Line> accepted(Random random) {
    List<Line> lines = new ArrayList<>();
    lines.add(Line.of("plain"));
    for (String text : TEXTS) {
      lines.add(
          Line.of(text)
              .with("aggregate_type", text)
              .with("event_type", text)
              .with("content_type", text)
              .with("correlation_id", text)
              .payload(text.getBytes(UTF_8)));
      lines.add(Line.of("partition").with("partition_key", text));
    }
    for (String payload :
        List.of(
            "", "\\x7b7d", "{\"path\": \"C:\\\\dir\", \"\u00fc\": \"a\\nb\"}", "{1,2}", "null")) {
      lines.add(Line.of("payload").payload(payload.getBytes(UTF_8)));
    }
    byte[] everyByte = new byte[256];
    for (int i = 0; i < everyByte.length; i++) {
      everyByte[i] = (byte) i;
    }
    lines.add(Line.of("bytes").payload(everyByte));
    byte[] largest = new byte[OutboxMessage.MAX_PAYLOAD];
    random.nextBytes(largest);
    lines.add(Line.of("largest").payload(largest));
    List<String> headers = new ArrayList<>(List.of("tenant", "", "tenant", "again", "tenant", ""));
    TEXTS.forEach(text -> headers.addAll(List.of(text, text)));
    lines.add(Line.of("headers").headers(headers.toArray(new String[0])));
    lines.add(Line.of("no headers").headers());
    for (int i = 0; i < 10; i++) {
      lines.add(Line.of("in order").with("correlation_id", "number " + i));
    }
    return lines;
  }

  /** None of these is stored; each with what the error has to say. */
  static Map<Line, String> refused() {
    Map<Line, String> lines = new LinkedHashMap<>();
    String most = "a".repeat(OutboxMessage.MAX_TEXT);
    for (String column :
        List.of(
            "aggregate_type",
            "aggregate_id",
            "event_type",
            "partition_key",
            "content_type",
            "correlation_id",
            "dedup_key")) {
      lines.put(Line.of("too long").with(column, most + EMOJI), "255");
      // What SQL would cut off without a word.
      lines.put(Line.of("a space too long").with(column, most + " "), "255");
      lines.put(Line.of("blank").with(column, " \t"), "blank");
      lines.put(Line.of("NUL").with(column, "a\0b"), "(?i)nul|0x00");
    }
    lines.put(Line.of("NUL in a header").headers("tenant", "a\0b"), "header .?tenant.? has a NUL");
    lines.put(Line.of("NUL in a name").headers("ten\0ant", "a"), "header .* has a NUL");
    lines.put(
        Line.of("too large").payload(new byte[OutboxMessage.MAX_PAYLOAD + 1]),
        "outbox_message_payload_size");
    lines.put(
        Line.of("too many headers").headers("name", "v".repeat(100_000)),
        "outbox_message_headers_size");
    return lines;
  }

  /** Half a surrogate pair, which no UTF-8 can hold. */
  static Line half() {
    return Line.of("half " + EMOJI.charAt(0));
  }
}
