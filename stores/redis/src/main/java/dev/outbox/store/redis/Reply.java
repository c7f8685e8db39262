package dev.outbox.store.redis;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What a script returns: a list of numbers, texts and lists. */
record Reply(List<?> values) {

  static Reply of(@Nullable Object value) {
    return new Reply((List<?>) requireNonNull(value, "the reply of a script"));
  }

  int size() {
    return values.size();
  }

  Reply list(int index) {
    return of(values.get(index));
  }

  /** Where there are lists only. */
  Stream<Reply> lists() {
    return values.stream().map(Reply::of);
  }

  long number(int index) {
    return (Long) requireNonNull(values.get(index), "a number in the reply of a script");
  }

  byte @Nullable [] bytes(int index) {
    return (byte[]) values.get(index);
  }

  String text(int index) {
    return new String(requireNonNull(bytes(index), "a text in the reply of a script"), UTF_8);
  }

  @Nullable String textOrNull(int index) {
    byte[] bytes = bytes(index);
    return bytes == null ? null : new String(bytes, UTF_8);
  }
}
