package dev.outbox.tck.internal;

import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import java.util.HashMap;
import java.util.Map;

/** Decisions about claims. */
public final class Decisions {
  private Decisions() {}

  /** One for all that the claim has. */
  public static Map<Long, Decision> all(Claim claim, Decision decision) {
    Map<Long, Decision> decisions = new HashMap<>();
    claim.messages().forEach(message -> decisions.put(message.sequence(), decision));
    return decisions;
  }
}
