package dev.outbox.inbox;

import dev.outbox.InvalidMessageException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * A hash of a message's content, as of a request's body. It tells whether a message with a known
 * key is the same message. Immutable.
 */
public final class Fingerprint {

  /** The most bytes: a SHA-512 has as many. */
  public static final int MAX = 64;

  private static final Fingerprint NONE = new Fingerprint(new byte[0]);

  private final byte[] bytes;

  private Fingerprint(byte[] bytes) {
    this.bytes = bytes;
  }

  /** No fingerprint: every message with the key is taken for the same. */
  public static Fingerprint none() {
    return NONE;
  }

  /** The SHA-256 of these parts, one after the other. */
  public static Fingerprint of(byte[]... parts) {
    try {
      MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
      for (byte[] part : parts) {
        sha256.update(part);
      }
      return new Fingerprint(sha256.digest());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  /**
   * A hash that was computed elsewhere; no bytes are {@link #none}.
   *
   * @param hash copied
   * @throws InvalidMessageException when it has more than {@link #MAX} bytes
   */
  public static Fingerprint ofHash(byte[] hash) {
    if (hash.length > MAX) {
      throw new InvalidMessageException(
          "the fingerprint has %s bytes, at most %s are allowed: give a hash"
              .formatted(hash.length, MAX));
    }
    return new Fingerprint(hash.clone());
  }

  /** A copy of the hash; empty: there is none. */
  public byte[] bytes() {
    return bytes.clone();
  }

  /** Whether these are of two messages (I7): both are there, and they are not the same. */
  public boolean differsFrom(Fingerprint other) {
    return bytes.length > 0 && other.bytes.length > 0 && !Arrays.equals(bytes, other.bytes);
  }

  /**
   * The one that is remembered of two that do not {@link #differsFrom differ}: this, or else that.
   */
  public Fingerprint or(Fingerprint other) {
    return bytes.length > 0 ? this : other;
  }

  @Override
  public boolean equals(@Nullable Object o) {
    return o instanceof Fingerprint f && Arrays.equals(bytes, f.bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }

  @Override
  public String toString() {
    return bytes.length == 0 ? "no fingerprint" : HexFormat.of().formatHex(bytes);
  }
}
