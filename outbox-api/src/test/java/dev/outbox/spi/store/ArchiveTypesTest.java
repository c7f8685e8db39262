package dev.outbox.spi.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Archive;
import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import dev.outbox.PermanentOutboxException;
import dev.outbox.SchemaException;
import dev.outbox.TransientOutboxException;
import dev.outbox.spi.store.ArchiveStore.Archived;
import dev.outbox.spi.store.ArchiveStore.Outcome;
import dev.outbox.spi.store.ArchiveStore.Position;
import dev.outbox.spi.store.ArchiveStore.Search;
import dev.outbox.spi.store.StoreProvider.History;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ArchiveTypesTest {
  private static final Instant NOON = Instant.parse("2026-11-22T12:00:00.123456Z");
  private static final Search AT_NOON = Search.between(NOON, NOON.plusNanos(1_000));
  private static final OutboxMessage MESSAGE =
      OutboxMessage.builder()
          .aggregate("order", "17")
          .eventType("OrderPlaced")
          .payload("{}")
          .header("a", "1")
          .build();

  private static Archived at(Instant time, long sequence) {
    return archived(StoredMessage.of(sequence, 0, NOON, MESSAGE), time, Outcome.DELIVERED);
  }

  private static Archived archived(StoredMessage message, Instant time, Outcome outcome) {
    return new Archived(message, true, time, outcome, null, null);
  }

  @Test
  @DisplayName("a search includes what all of it says, and nothing else")
  void includes() {
    Archived one = at(NOON, 42);
    Stream.of(
            AT_NOON,
            AT_NOON.key("order/17"),
            AT_NOON.aggregateType("order"),
            AT_NOON.aggregateId("17"),
            AT_NOON.eventType("OrderPlaced"),
            AT_NOON.id(MESSAGE.id()),
            AT_NOON.outcome(Outcome.DELIVERED),
            AT_NOON.after(new Position(NOON, 41)),
            AT_NOON.after(new Position(NOON.minusNanos(1_000), 43)))
        .forEach(search -> assertThat(search.includes(one)).as("%s", search).isTrue());
    Stream.of(
            Search.between(NOON.plusNanos(1_000), NOON.plusSeconds(1)),
            Search.between(NOON.minusSeconds(1), NOON),
            AT_NOON.key("order/18"),
            AT_NOON.aggregateType("customer"),
            AT_NOON.aggregateId("18"),
            AT_NOON.eventType("OrderPaid"),
            AT_NOON.id(new UUID(0, 0)),
            AT_NOON.outcome(Outcome.DISCARDED),
            AT_NOON.after(new Position(NOON, 42)),
            AT_NOON.after(new Position(NOON.plusNanos(1_000), 41)))
        .forEach(search -> assertThat(search.includes(one)).as("%s", search).isFalse());
  }

  @Test
  @DisplayName("of a message that cannot be decoded a search knows the key, time and outcome")
  void includesUndecodable() {
    Archived one =
        archived(
            StoredMessage.undecodable(42, "order/17", null, 0, NOON, "no UUID"),
            NOON,
            Outcome.DISCARDED);
    assertThat(AT_NOON.key("order/17").outcome(Outcome.DISCARDED).includes(one)).isTrue();
    assertThat(AT_NOON.aggregateType("order").includes(one)).isFalse();
    assertThat(AT_NOON.id(MESSAGE.id()).includes(one)).isFalse();
  }

  @Test
  @DisplayName("each of a search's words leaves the others as they are")
  void withers() {
    UUID id = new UUID(1, 2);
    Position after = new Position(NOON, 42);
    assertThat(
            AT_NOON
                .after(after)
                .outcome(Outcome.EXPIRED)
                .id(id)
                .eventType("e")
                .aggregateId("i")
                .aggregateType("t")
                .key("k"))
        .isEqualTo(
            AT_NOON
                .key("k")
                .aggregateType("t")
                .aggregateId("i")
                .eventType("e")
                .id(id)
                .outcome(Outcome.EXPIRED)
                .after(after))
        .isEqualTo(
            new Search(
                AT_NOON.from(), AT_NOON.to(), "k", "t", "i", "e", id, Outcome.EXPIRED, after));
  }

  @Test
  @DisplayName("a position is one word, which is read as it was printed, and has an order")
  void position() {
    Position position = at(NOON, 42).position();
    assertThat(position).hasToString("2026-11-22T12:00:00.123456Z/42");
    assertThat(Position.parse(position.toString())).isEqualTo(position);
    assertThat(
            Stream.of(new Position(NOON.plusNanos(1), 1), position, new Position(NOON, 5)).sorted())
        .containsExactly(new Position(NOON, 5), position, new Position(NOON.plusNanos(1), 1));
  }

  @ParameterizedTest
  @DisplayName("what is no position is refused with an example of one")
  @ValueSource(strings = {"", "/", "42", "2026-11-22T12:00:00Z", "2026-11-22T12:00:00Z/", "x/42"})
  void noPosition(String text) {
    assertThatThrownBy(() -> Position.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("'%s' is no position, it must look like 2026-11-22T10:00:00.123456Z/42", text);
  }

  @Test
  @DisplayName("a replay of a replay names the last one, and keeps the other headers")
  void again() {
    OutboxMessage first = at(NOON, 42).again();
    OutboxMessage second =
        archived(StoredMessage.of(43, 0, NOON, first), NOON, Outcome.DELIVERED).again();
    assertThat(first.headers())
        .containsExactly(
            new Header("a", "1"), new Header(Header.REPLAY_OF, MESSAGE.id().toString()));
    assertThat(second.headers())
        .containsExactly(new Header("a", "1"), new Header(Header.REPLAY_OF, first.id().toString()));
  }

  /** A store that was told to keep something or nothing, on a database. */
  private static ArchiveStore told(Archive archive, Supplier<List<Archived>> database) {
    return (ArchiveStore)
        Proxy.newProxyInstance(
            ArchiveStore.class.getClassLoader(),
            new Class<?>[] {ArchiveStore.class},
            (store, method, arguments) ->
                switch (method.getName()) {
                  case "archive" -> archive;
                  case "archived" -> database.get();
                  default -> InvocationHandler.invokeDefault(store, method, arguments);
                });
  }

  private static ArchiveStore told(Archive archive, RuntimeException e) {
    return told(
        archive,
        () -> {
          throw e;
        });
  }

  @Test
  @DisplayName("a store that was told nothing says whether its database has an archive")
  void hasArchive() {
    assertThat(told(Archive.NONE, List::of).hasArchive()).isTrue();
    assertThat(told(Archive.NONE, new SchemaException("missing")).hasArchive()).isFalse();
    assertThat(told(Archive.NONE, new PermanentOutboxException("denied")).hasArchive()).isFalse();
    assertThat(told(Archive.FULL, new SchemaException("not asked")).hasArchive()).isTrue();
    assertThatThrownBy(told(Archive.NONE, new TransientOutboxException("away"))::hasArchive)
        .isInstanceOf(TransientOutboxException.class);
  }

  @Test
  @DisplayName("a store that keeps nothing refuses each setting by its name")
  void requireNone() {
    History.NONE.requireNone("Redis");
    assertRefused(
        History.of(Archive.METADATA),
        "archive is METADATA, and the store of Redis keeps none: leave it out");
    assertRefused(
        new History(Archive.NONE, Duration.ofDays(9), null),
        "archiveRetention is 9d, and the store of Redis keeps no archive: leave it out");
    assertRefused(
        new History(Archive.NONE, null, Duration.ofHours(1)),
        "deadLetterRetention is 1h, and the store of Redis keeps dead letters until somebody"
            + " decides: leave it out");
  }

  private static void assertRefused(History history, String sentence) {
    assertThatThrownBy(() -> history.requireNone("Redis"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(sentence);
  }
}
