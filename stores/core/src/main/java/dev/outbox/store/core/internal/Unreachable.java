package dev.outbox.store.core.internal;

import java.net.ConnectException;
import java.net.UnknownHostException;
import java.util.Optional;

/** Why a server cannot be reached. */
public final class Unreachable {
  private Unreachable() {}

  /**
   * What the network said; drivers hide it in sentences of their own. Empty where it was not the
   * network.
   */
  public static Optional<String> reason(Throwable failure) {
    for (Throwable t = failure; t != null; t = t.getCause()) {
      if (t instanceof UnknownHostException) {
        return Optional.of("unknown host " + t.getMessage());
      }
      if (t instanceof ConnectException) {
        return Optional.of(t.getMessage() + "; is the server running there?");
      }
    }
    return Optional.empty();
  }
}
