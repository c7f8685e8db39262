package dev.outbox.store.redis;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** The arguments of a script, in order. */
final class Arguments {
  private static final int MICROS = 1_000;

  private final List<byte[]> all = new ArrayList<>();

  Arguments add(byte[] bytes) {
    all.add(bytes);
    return this;
  }

  Arguments add(String text) {
    return add(text.getBytes(UTF_8));
  }

  Arguments add(long number) {
    return add(Long.toString(number));
  }

  Arguments addAll(Collection<String> texts) {
    texts.forEach(this::add);
    return this;
  }

  Arguments addMillis(Duration time) {
    return add(time.toMillis());
  }

  Arguments addMicros(Duration time) {
    return add(micros(time));
  }

  static long micros(Duration time) {
    return time.toSeconds() * MICROS * MICROS + time.toNanosPart() / MICROS;
  }

  static long micros(Instant time) {
    return micros(Duration.between(Instant.EPOCH, time)); // a ChronoUnit ends in 2262
  }

  List<byte[]> list() {
    return all;
  }
}
