package dev.outbox.tck.internal;

import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;

/** Decisions about claims. */
public final class Decisions {
  private Decisions() {}

  /** One for all that the claim has. */
  public static Map<Long, Decision> all(Claim claim, Decision decision) {
    return each(claim, message -> decision);
  }

  /** One for each that the claim has. */
  public static Map<Long, Decision> each(Claim claim, Function<StoredMessage, Decision> decision) {
    Map<Long, Decision> decisions = new HashMap<>();
    claim.messages().forEach(m -> decisions.put(m.sequence(), decision.apply(m)));
    return decisions;
  }
}
