package dev.outbox.store.redis;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toList;

import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.redis.Messages.Found;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What a claim brought; the server knows which of its keys it still holds, by its token. */
final class RedisClaim implements Claim {
  private static final Script RENEW = Script.in("outbox", "renew");
  private static final Script SETTLE = Script.in("outbox", "settle");

  private final Server server;
  private final String token;
  private final boolean counted;
  private final List<StoredMessage> messages;

  /** By the bytes of their key. */
  private final Map<String, List<Found>> byKey;

  /**
   * @param counted whether the attempt was counted at the claim (S6)
   */
  RedisClaim(Server server, String token, boolean counted, List<Found> found) {
    this.server = server;
    this.token = token;
    this.counted = counted;
    messages = found.stream().map(Found::message).toList();
    byKey =
        found.stream()
            .collect(groupingBy(one -> one.fields().rawKey(), LinkedHashMap::new, toList()));
  }

  @Override
  public List<StoredMessage> messages() {
    return messages;
  }

  @Override
  public Set<Long> renew(Duration lease) {
    Set<Long> held = new HashSet<>();
    if (!messages.isEmpty()) {
      Arguments arguments = Server.arguments().add(token).addMicros(lease);
      byKey.keySet().forEach(key -> arguments.add(key.getBytes(ISO_8859_1)));
      Reply reply = Reply.of(server.run(RENEW, arguments));
      int i = 0;
      for (List<Found> ofKey : byKey.values()) {
        if (reply.number(i++) == 1) {
          ofKey.forEach(found -> held.add(found.message().sequence()));
        }
      }
    }
    return held;
  }

  @Override
  public Set<Long> settle(Map<Long, Decision> decisions) {
    Claim.requireKnown(messages, decisions);
    Set<Long> lost = new HashSet<>();
    if (!messages.isEmpty()) {
      Arguments arguments = Server.arguments().add(token).add(counted ? 1 : 0);
      byKey.forEach(
          (key, ofKey) -> {
            arguments.add(key.getBytes(ISO_8859_1)).add(ofKey.size());
            ofKey.forEach(
                found -> add(arguments, found, decisions.get(found.message().sequence())));
          });
      Reply reply = Reply.of(server.run(SETTLE, arguments));
      for (int i = 0; i < reply.size(); i++) {
        lost.add(reply.number(i));
      }
    }
    return lost;
  }

  private static void add(Arguments arguments, Found found, @Nullable Decision decision) {
    arguments.add(found.message().sequence()).add(found.fields().id());
    if (decision instanceof Decision.Delivered || decision instanceof Decision.Expired) {
      add(arguments, "delivered", Duration.ZERO, false, "");
    } else if (decision instanceof Decision.Retry retry) {
      add(arguments, "retry", retry.delay(), retry.counts(), retry.error());
    } else if (decision instanceof Decision.Dead dead) {
      add(arguments, dead.haltsKey() ? "halt" : "dead", Duration.ZERO, true, dead.error());
    } else {
      add(arguments, "none", Duration.ZERO, false, "");
    }
  }

  private static void add(
      Arguments arguments, String decision, Duration delay, boolean counts, String error) {
    arguments.add(decision).addMicros(delay).add(counts ? 1 : 0).add(error);
  }
}
