package dev.outbox.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.outbox.Appended;
import dev.outbox.Archive;
import dev.outbox.OutboxMessage;
import dev.outbox.PermanentOutboxException;
import dev.outbox.TransientOutboxException;
import dev.outbox.spi.store.ArchiveStore.Archived;
import dev.outbox.spi.store.ArchiveStore.Outcome;
import dev.outbox.spi.store.ArchiveStore.Position;
import dev.outbox.spi.store.ArchiveStore.Search;
import dev.outbox.spi.store.ArchiveStore.Who;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.memory.MemoryOutboxStore;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** A replay that is cut short goes on where it stopped, and publishes nothing twice. */
class ReplayingTest {
  private static final Instant NOW = Instant.parse("2024-11-22T12:00:00Z");
  private static final Search TODAY = Search.between(NOW.minusSeconds(60), NOW.plusSeconds(60));
  private static final int MESSAGES = 250;

  private final StringWriter text = new StringWriter();

  /** All that leaves it leaves at one time. Something may happen in one of its pages. */
  private static class Store extends MemoryOutboxStore {
    final List<String> replayed = new ArrayList<>();
    private int pages;

    Store(Archive archive) {
      super(InstantSource.fixed(NOW), Duration.ofDays(1), archive, null);
    }

    void inPage(int page) {}

    void afterPage(int page) {}

    @Override
    public Appended replay(List<Archived> messages, Who by) {
      int page = ++pages;
      inPage(page);
      Appended appended = super.replay(messages, by);
      messages.forEach(one -> replayed.add(one.message().message().id().toString()));
      afterPage(page);
      return appended;
    }
  }

  private static List<String> leave(Store store, int messages, Decision decision) {
    List<OutboxMessage> all =
        IntStream.range(0, messages)
            .mapToObj(
                i ->
                    OutboxMessage.builder()
                        .aggregate("order", "" + i)
                        .eventType("OrderPlaced")
                        .payload("{}")
                        .build())
            .toList();
    store.inTransaction(transaction -> store.append(transaction, all));
    Claim claim =
        store.claim(new Claim.Request("test", messages, Integer.MAX_VALUE, Duration.ofMinutes(1)));
    Map<Long, Decision> decisions =
        claim.messages().stream()
            .collect(Collectors.toMap(StoredMessage::sequence, message -> decision));
    assertThat(claim.settle(decisions)).isEmpty();
    return all.stream().map(message -> message.id().toString()).toList();
  }

  private static void discardAll(Store store) {
    store.deadLetters(0, MESSAGES).forEach(dead -> store.discard(dead.message().sequence()));
  }

  private Replaying replaying(Store store, Search search) {
    return new Replaying(store, search, Who.named("alice"), new PrintWriter(text, true));
  }

  /** Where the output says to go on. */
  private Search goOn() {
    Matcher options =
        Pattern.compile("Go on with: --from=(\\S+) --to=(\\S+) --after=(\\S+)")
            .matcher(text.toString());
    assertThat(options.find()).as(text.toString()).isTrue();
    return Search.between(Instant.parse(options.group(1)), Instant.parse(options.group(2)))
        .after(Position.parse(options.group(3)));
  }

  private static Store refusingItsSecondPage() {
    return new Store(Archive.FULL) {
      @Override
      void inPage(int page) {
        if (page == 2) {
          throw new PermanentOutboxException("refused");
        }
      }
    };
  }

  @Test
  @DisplayName("one that fails on its second page says how to go on, and goes on there")
  void fails() {
    Store store = refusingItsSecondPage();
    List<String> ids = leave(store, MESSAGES, Decision.delivered());
    assertThatThrownBy(() -> replaying(store, TODAY).run())
        .isInstanceOf(PermanentOutboxException.class)
        .hasMessage("refused");
    assertThat(text.toString())
        .startsWith("100 of 250 replayed, up to 2024-11-22T12:00:00Z/100")
        .contains("\n100 replayed.")
        .doesNotContain("not known");
    replaying(store, goOn()).run();
    assertThat(text.toString()).contains("150 replayed.");
    assertThat(store.replayed).isEqualTo(ids);
    assertThat(store.audit(Instant.EPOCH, 1_000)).hasSize(MESSAGES);
  }

  @Test
  @DisplayName("one that does not know whether its page was committed says so, and how far it went")
  void inDoubt() {
    Store store =
        new Store(Archive.FULL) {
          @Override
          void afterPage(int page) {
            if (page == 2) {
              throw new TransientOutboxException("no reply");
            }
          }
        };
    List<String> ids = leave(store, MESSAGES, Decision.delivered());
    assertThatThrownBy(() -> replaying(store, TODAY).run())
        .isInstanceOf(TransientOutboxException.class);
    Matcher end =
        Pattern.compile("not known whether the next 100, up to (\\S+), were replayed")
            .matcher(text.toString());
    assertThat(end.find()).as(text.toString()).isTrue();
    assertThat(text.toString()).contains("\n100 replayed.");
    replaying(store, goOn().after(Position.parse(end.group(1)))).run();
    assertThat(store.replayed).isEqualTo(ids);
  }

  @Test
  @DisplayName("Ctrl-C ends it behind the page that is being replayed, and it says how to go on")
  void stopped() throws InterruptedException {
    Replaying[] running = new Replaying[1];
    Thread hook = new Thread(() -> running[0].stop());
    Store store =
        new Store(Archive.FULL) {
          @Override
          void inPage(int page) {
            if (page == 2) {
              hook.start();
              await().until(() -> hook.getState() == Thread.State.WAITING);
            }
          }
        };
    List<String> ids = leave(store, MESSAGES, Decision.delivered());
    running[0] = replaying(store, TODAY);
    running[0].run();
    hook.join();
    assertThat(store.replayed).hasSize(200);
    assertThat(text.toString()).contains("\n200 replayed.").doesNotContain("not known");
    replaying(store, goOn()).run();
    assertThat(store.replayed).isEqualTo(ids);
  }

  @Test
  @DisplayName("only what was delivered is replayed, unless something else is asked for")
  void outcomes() {
    Store store = new Store(Archive.FULL);
    List<String> delivered = leave(store, 2, Decision.delivered());
    List<String> discarded = leave(store, 3, Decision.dead("rejected"));
    discardAll(store);

    Replaying usual = replaying(store, TODAY);
    usual.printCounts();
    assertThat(text.toString())
        .contains("2 messages left from ", ": DELIVERED.")
        .contains("3 more left DISCARDED, and are not replayed: --outcome=discarded takes those.");
    usual.run();
    assertThat(store.replayed).isEqualTo(delivered);

    text.getBuffer().setLength(0);
    Replaying others = replaying(store, TODAY.outcome(Outcome.DISCARDED));
    others.printCounts();
    assertThat(text.toString())
        .contains("3 messages left from ", ": DISCARDED.")
        .doesNotContain("more left");
    store.replayed.clear();
    others.run();
    assertThat(store.replayed).isEqualTo(discarded);
    assertThat(replaying(store, TODAY.outcome(Outcome.EXPIRED)).isEmpty()).isTrue();
  }

  @Test
  @DisplayName("where one of them cannot be replayed, nothing is, and it says which one that is")
  void notWhole() {
    Store store = new Store(Archive.METADATA);
    leave(store, MESSAGES, Decision.delivered());
    assertThatThrownBy(() -> replaying(store, TODAY))
        .isInstanceOf(Failure.class)
        .hasMessageContaining("message 1 of 2024-11-22T12:00:00Z cannot be replayed")
        .hasMessageEndingWith("or --after 2024-11-22T12:00:00Z/1");
    assertThat(store.replayed).isEmpty();
  }
}
