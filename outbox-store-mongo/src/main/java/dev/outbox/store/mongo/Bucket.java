package dev.outbox.store.mongo;

import dev.outbox.store.core.internal.Database;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32;

/** Which bucket a key belongs to. */
final class Bucket {
  private Bucket() {}

  /** CRC-32 of the key's UTF-8 bytes, the lowest six bits. */
  static int of(String key) {
    CRC32 hash = new CRC32();
    hash.update(key.getBytes(StandardCharsets.UTF_8));
    return (int) (hash.getValue() % Database.BUCKETS);
  }
}
