package dev.outbox.dev.torture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Appended;
import dev.outbox.OutboxMessage;
import dev.outbox.TransientOutboxException;
import dev.outbox.dev.torture.Journal.Line;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.KeepingStore;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spi.store.SchemaStore;
import dev.outbox.spi.store.StoredMessage;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JournalingStoreTest {
  private static final Claim.Request REQUEST =
      new Claim.Request("w", 10, 1_000, Duration.ofSeconds(3));

  private final List<Object> asked = new ArrayList<>();

  /**
   * Gives messages 7 and 8, and loses the lease of 8; it fails when it is asked for a claim more.
   */
  private class Given implements Claim, OutboxStore<String>, SchemaStore {
    @Override
    public List<StoredMessage> messages() {
      OutboxMessage message =
          OutboxMessage.builder().aggregate("order", "1").eventType("e").payload("{}").build();
      return List.of(
          StoredMessage.of(7, 0, Instant.EPOCH, message),
          StoredMessage.of(8, 0, Instant.EPOCH, message));
    }

    @Override
    public Set<Long> renew(Duration lease) {
      return Set.of(7L, 8L);
    }

    @Override
    public Set<Long> settle(Map<Long, Decision> decisions) {
      return Set.of(8L);
    }

    @Override
    public Claim claim(Request request) {
      asked.add(request);
      if (asked.size() > 1) {
        throw new TransientOutboxException("away");
      }
      return this;
    }

    @Override
    public Appended append(String transaction, List<OutboxMessage> messages) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void migrate() {}

    @Override
    public String ddl() {
      return "create it";
    }

    @Override
    public void verify() {}

    @Override
    public String place() {
      return "here";
    }
  }

  /** A keeper claims from itself, and is given back as it was made. */
  private final class Keeping extends Given implements KeepingStore<String> {
    private final Keeper keeper = Keeper.ofNothing(this);

    @Override
    public Keeper keeper(Duration unclaimed) {
      return keeper;
    }

    @Override
    public Uncommitted append(Keeper by, String transaction, List<OutboxMessage> messages) {
      assertThat(by).isSameAs(keeper);
      asked.add(transaction);
      return Uncommitted.of(Appended.of(List.of(), Set.of()));
    }
  }

  private static List<String> told(Path directory) throws IOException {
    return Journal.readAll(directory).stream().map(Line::what).toList();
  }

  @Test
  @DisplayName(
      "a store that keeps nothing: its claims are written down, and what else it can do stays")
  void claims(@TempDir Path directory) throws Exception {
    try (Journal journal = Journal.open(directory, "relay-1")) {
      OutboxStore<String> store = JournalingStore.of(new Given(), journal, () -> asked.add("late"));
      assertThat(((SchemaStore) store).ddl()).isEqualTo("create it");
      Claim claim = store.claim(REQUEST);
      Set<Long> ours = claim.renew(Duration.ofSeconds(3));
      assertThat(ours).containsExactlyInAnyOrder(7L, 8L);
      assertThatThrownBy(
              () -> store.settleAndClaim(claim, Map.of(7L, Decision.delivered()), REQUEST))
          .isInstanceOf(TransientOutboxException.class)
          .hasMessage("away");
      assertThat(claim.settle(Map.of(7L, Decision.delivered(), 8L, Decision.dead("bad"))))
          .containsExactly(8L);
    }
    assertThat(asked).containsExactly(REQUEST, "late", REQUEST, "late");
    assertThat(told(directory))
        .containsExactly(
            "unseen", "claim", "renewed", "settle", "dead", "settle", "settled", "delivered");
    Line delivered = Journal.of(Journal.readAll(directory), "delivered").get(0);
    assertThat(delivered.list(1)).containsExactly("7");
  }

  @Test
  @DisplayName("a keeper's claims too; the store gets its own keeper to append")
  void keeper(@TempDir Path directory) throws Exception {
    try (Journal journal = Journal.open(directory, "relay-1")) {
      KeepingStore<String> store =
          (KeepingStore<String>) JournalingStore.of(new Keeping(), journal, () -> {});
      KeepingStore.Keeper keeper = store.keeper(Duration.ofSeconds(1));
      assertThat(keeper.claim(REQUEST).messages()).hasSize(2);
      assertThat(store.append(keeper, "transaction", List.of())).isNotNull();
      keeper.hold(() -> {});
    }
    assertThat(asked).containsExactly(REQUEST, "transaction");
    assertThat(told(directory)).containsExactly("claim", "unseen");
  }
}
