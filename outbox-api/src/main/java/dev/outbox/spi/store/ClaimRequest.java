package dev.outbox.spi.store;

import static java.util.Objects.requireNonNull;

import dev.outbox.Texts;
import java.time.Duration;

/**
 * What a relay worker asks for.
 *
 * @param worker its name: for people, and to share work fairly. It decides nothing about who holds
 *     what
 * @param maxMessages at least 1; the claim has no more
 * @param maxBytes at least 1; when the payloads together would be larger the claim ends before, but
 *     it never is empty for that reason
 * @param lease how long the claim is held unless renewed; at least 1 ms
 */
public record ClaimRequest(String worker, int maxMessages, long maxBytes, Duration lease) {
  public ClaimRequest {
    requireNonNull(worker, "worker");
    if (maxMessages < 1) {
      throw new IllegalArgumentException(
          "maxMessages is " + maxMessages + ", at least 1 is needed");
    }
    if (maxBytes < 1) {
      throw new IllegalArgumentException("maxBytes is " + maxBytes + ", at least 1 is needed");
    }
    if (lease.toMillis() < 1) {
      throw new IllegalArgumentException(
          "lease is " + Texts.time(lease) + ", at least 1 ms is needed");
    }
  }
}
