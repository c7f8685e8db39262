package dev.outbox.tck.store;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.OpenWork;
import dev.outbox.tck.internal.Sentence;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;

/** C1 to C3. */
@DisplayName("Claim")
@Rule("C2")
abstract class ClaimTests<T> extends StoreTests<T> {
  @Rule("C1")
  @Sentence("a claimed message and others of its key are in no other claim, new ones neither")
  void keyNotTwice() {
    committed("k", 5);
    Claim claim = claim(2, LONG);
    expect("messages of a claim of at most 2", claim.messages().size()).isBetween(1, 2);
    assertNothingDue("messages of a key that is claimed");
    assertCame("messages of a key that is claimed, by another store", claim(tck.createStore()))
        .isEmpty();
    committed("k", 5);
    assertNothingDue("messages that were appended to a key that is claimed");
    release(claim);
    assertCame("claimed, after the claim was settled", drain()).hasSize(10);
  }

  @Rule("C1")
  @Sentence("claims that run at the same time share neither keys nor messages")
  void concurrentClaims() {
    committed(120, i -> "k" + i % 40);
    List<OutboxStore<T>> stores = Stream.generate(() -> tck.createStore()).limit(4).toList();
    Claim.Request few = request(3, LONG);
    for (int round = 0; round < 15; round++) {
      List<List<Claim>> twoEach =
          atOnce("claim", stores, store -> List.of(claim(store, few), claim(store, few)));
      List<Claim> claims = twoEach.stream().flatMap(List::stream).toList();
      assertShareNothing(claims);
      claims.forEach(this::release);
    }
  }

  private static void assertShareNothing(List<Claim> claims) {
    Set<Long> sequences = new HashSet<>();
    Map<String, Claim> holders = new HashMap<>();
    for (Claim claim : claims) {
      for (StoredMessage message : claim.messages()) {
        assertThat(sequences.add(message.sequence()))
            .as("message %s is in one live claim only", message.sequence())
            .isTrue();
        assertThat(holders.computeIfAbsent(message.key(), key -> claim))
            .as("key %s is in one live claim only", message.key())
            .isSameAs(claim);
      }
    }
  }

  @Sentence("messages of a key come in sequence order from the oldest on, without a gap")
  void inOrderWithoutGap() {
    List<OutboxMessage> messages = committed(100, i -> i % 5 < 3 ? "k" : "l" + i % 7);
    Map<String, List<UUID>> expected = new LinkedHashMap<>();
    messages.forEach(m -> expected.computeIfAbsent(m.key(), k -> new ArrayList<>()).add(m.id()));
    expect("duplicates of no messages", commit(List.of())).isEmpty();
    Map<String, List<UUID>> came = new LinkedHashMap<>();
    for (int most : List.of(10, 30)) {
      Claim claim = claim(most, LONG);
      expect("what is due now", claim.messages()).isNotEmpty();
      claim
          .messages()
          .forEach(m -> came.computeIfAbsent(m.key(), k -> new ArrayList<>()).add(id(m)));
      came.forEach(
          (key, ids) ->
              assertCame("key %s, from its oldest on and without a gap".formatted(key), ids)
                  .inOrder(requireNonNull(expected.get(key)).subList(0, ids.size())));
      settle(claim, Decision.delivered());
    }
    drain().forEach(m -> came.computeIfAbsent(m.key(), k -> new ArrayList<>()).add(id(m)));
    requires(
        "S3", () -> expect("keys and their messages, of all that came", came).isEqualTo(expected));
  }

  @Sentence("a claim has no more messages and bytes than asked for, but one always comes")
  void atMost() {
    committed(30, i -> "k" + i % 3);
    for (int max : List.of(1, 2, 7, 1_000_000)) {
      Claim claim = claim(max, LONG);
      expect("messages of a claim", claim.messages().size()).isBetween(1, max);
      release(claim);
    }
    tck.prepare();
    List<OutboxMessage> messages =
        IntStream.range(0, 10)
            .mapToObj(i -> message("k").payload(new byte[1_000]).build())
            .toList();
    commit(messages);
    Claim some = claim(new Claim.Request("tck", 100, 3_500, LONG));
    expect("messages of 1,000 bytes in 3,500", some.messages().size()).isBetween(1, 3);
    assertCame("the oldest", some).inOrder(idsOf(messages).subList(0, some.messages().size()));
    release(some);
    Claim one = claim(new Claim.Request("tck", 100, 1, LONG));
    assertCame("a message larger than all that was asked for comes alone", one)
        .inOrder(messages.get(0));
    release(one);
    assertCame("all that came", drain()).inOrder(messages);
  }

  @Rule("C3")
  @Sentence("claim returns, with what else is due, while a producer's transaction is open")
  void doesNotWaitForProducers() {
    OutboxMessage before = committed(message("other"));
    try (OpenWork<T> transaction = open()) {
      List<OutboxMessage> open =
          IntStream.range(0, 200).mapToObj(i -> message("k" + i % 50).build()).toList();
      Set<UUID> ignored = append(transaction, open);
      List<UUID> delivered = ids(drain());
      assertCame("due beside an open transaction", delivered).contains(before);
      transaction.rollback();
    }
  }

  @Rule("C3")
  @Sentence("a claim of nothing is empty, and can be renewed and settled")
  void empty() {
    Claim claim = claim();
    expect("claimed from an empty store", claim.messages()).isEmpty();
    expect("renewed", claim.renew(LONG)).isEmpty();
    expect("what settle says was lost", claim.settle(Map.of())).isEmpty();
    committed("k", 1);
    assertCame("due, after an empty claim was settled", drain()).hasSize(1);
    claim(); // and an empty claim that is never settled holds nothing
    committed("k", 1);
    assertCame("due, beside an empty claim that is not settled", drain()).hasSize(1);
  }
}
