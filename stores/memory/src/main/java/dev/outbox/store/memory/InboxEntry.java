package dev.outbox.store.memory;

import dev.outbox.inbox.Fingerprint;
import dev.outbox.inbox.InboxResult;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What an inbox knows of a key.
 *
 * @param token whose the lock is, or was
 * @param lockUntil means something while it is started
 * @param attempts how often it was begun or recorded
 * @param error why it was released last; null when it was not
 * @param expiresAt from when on it may be forgotten
 */
record InboxEntry(
    State state,
    UUID token,
    Instant lockUntil,
    int attempts,
    Fingerprint fingerprint,
    InboxResult result,
    @Nullable String error,
    Instant expiresAt) {

  enum State {
    STARTED,
    FAILED,
    DONE
  }

  /** Of a key that is begun for the first time, or taken over. */
  static InboxEntry started(
      @Nullable InboxEntry before, Fingerprint fingerprint, Instant lockUntil, Instant expiresAt) {
    return new InboxEntry(
        State.STARTED,
        UUID.randomUUID(),
        lockUntil,
        before == null ? 1 : before.attempts + 1,
        before == null ? fingerprint : before.fingerprint.or(fingerprint),
        InboxResult.none(),
        before == null ? null : before.error,
        expiresAt);
  }

  InboxEntry renewed(Instant until, Instant expiry) {
    return new InboxEntry(state, token, until, attempts, fingerprint, result, error, expiry);
  }

  InboxEntry done(InboxResult with, Instant expiry) {
    return new InboxEntry(State.DONE, token, lockUntil, attempts, fingerprint, with, error, expiry);
  }

  InboxEntry failed(String why, Instant now, Instant expiry) {
    return new InboxEntry(State.FAILED, token, now, attempts, fingerprint, result, why, expiry);
  }
}
