package dev.outbox.example.shop;

/** Reads what was published: JSON. */
@FunctionalInterface
interface EventReader {

  <T> T read(byte[] payload, Class<T> type);
}
