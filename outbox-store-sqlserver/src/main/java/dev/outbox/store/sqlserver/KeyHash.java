package dev.outbox.store.sqlserver;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** What the tables compute of a key: {@code hashbytes('SHA2_256', …)} of its nvarchar bytes. */
final class KeyHash {
  private KeyHash() {}

  static byte[] of(String key) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(key.getBytes(StandardCharsets.UTF_16LE));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}
