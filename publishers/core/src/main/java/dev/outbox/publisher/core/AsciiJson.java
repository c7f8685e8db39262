package dev.outbox.publisher.core;

import static java.util.stream.Collectors.joining;

import dev.outbox.Header;
import dev.outbox.Texts;
import java.util.List;

/** JSON in printable ASCII alone, for brokers whose headers can hold no more. */
public final class AsciiJson {
  private AsciiJson() {}

  /** As {@link Header#toJson}, and read as that is. */
  public static String headers(List<Header> headers) {
    return headers.stream()
        .map(header -> "[" + text(header.name()) + "," + text(header.value()) + "]")
        .collect(joining(",", "[", "]"));
  }

  /** A text in quotes. */
  public static String text(String text) {
    return Texts.json(text, 0x7F);
  }
}
