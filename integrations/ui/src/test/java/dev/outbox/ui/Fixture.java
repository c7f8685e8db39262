package dev.outbox.ui;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Archive;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.PauseStore.Pause;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.memory.MemoryOutboxStore;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jsoup.Jsoup;
import org.jsoup.nodes.Document;
import org.jsoup.nodes.Element;

/** A page of a store in memory, whose clock goes when it is told to. */
final class Fixture implements AutoCloseable {
  static final Map<String, String> OWN =
      Map.of("host", "localhost:8025", "origin", "http://localhost:8025");

  final AtomicReference<Instant> now = new AtomicReference<>(Instant.parse("2026-11-27T10:00:00Z"));

  /** Runs when the pauses were read, and before who reads has them. */
  volatile Runnable pausesRead = () -> {};

  final MemoryOutboxStore store;
  final OutboxPage page;

  Fixture(Archive archive, boolean allowChanges) {
    store =
        new MemoryOutboxStore(now::get, Duration.ofDays(1), archive, null) {
          @Override
          public List<Pause> pauses() {
            List<Pause> found = super.pauses();
            pausesRead.run();
            return found;
          }
        };
    page =
        OutboxPage.builder(store)
            .allowChanges(allowChanges)
            .person("ann")
            .mask(text -> text.replace("geheim", "***"))
            .clock(now::get)
            .build();
  }

  static Fixture readOnly() {
    return new Fixture(Archive.NONE, false);
  }

  void pass(Duration time) {
    now.updateAndGet(before -> before.plus(time));
  }

  static OutboxMessage.Builder message(String type, String id) {
    return OutboxMessage.builder().aggregate(type, id).eventType("Placed").payload("{}");
  }

  void append(OutboxMessage.Builder... messages) {
    store.inTransaction(
        transaction -> {
          for (OutboxMessage.Builder message : messages) {
            store.append(transaction, message.build());
          }
        });
  }

  void append(int count, String type) {
    append(
        IntStream.range(0, count)
            .mapToObj(i -> message(type, "" + i))
            .toArray(OutboxMessage.Builder[]::new));
  }

  /** Claims what is due, and decides about it; null: gives it back. */
  void settle(Function<StoredMessage, Decision> decision) {
    Claim claim =
        store.claim(new Claim.Request("relay-1/0", 10_000, 100_000_000, Duration.ofSeconds(30)));
    Map<Long, Decision> decisions = new HashMap<>();
    for (StoredMessage one : claim.messages()) {
      Decision decided = decision.apply(one);
      if (decided != null) {
        decisions.put(one.sequence(), decided);
      }
    }
    assertThat(claim.settle(decisions)).isEmpty();
  }

  PageResponse ask(
      String method, String address, Map<String, String> form, Map<String, String> headers) {
    int mark = address.indexOf('?');
    String path = mark < 0 ? address : address.substring(0, mark);
    return page.answer(
        new PageRequest(
            method,
            path.equals("./") ? "" : path,
            PageRequest.parameters(mark < 0 ? null : address.substring(mark + 1)),
            form,
            headers));
  }

  PageResponse get(String address) {
    return ask("GET", address, Map.of(), Map.of());
  }

  Document see(String address) {
    PageResponse response = get(address);
    assertThat(response.status()).as(response.body()).isEqualTo(200);
    return Jsoup.parse(response.body());
  }

  /** What the form of a page would send, with some fields filled in. */
  static Map<String, String> filled(Document page, String... values) {
    Map<String, String> fields = new HashMap<>();
    for (Element input : page.select("form[method=post] input:not([type=checkbox])")) {
      fields.put(input.attr("name"), input.attr("value"));
    }
    for (Element box : page.select("form[method=post] input[type=checkbox][checked]")) {
      fields.put(box.attr("name"), box.attr("value"));
    }
    for (int i = 0; i < values.length; i += 2) {
      fields.put(values[i], values[i + 1]);
    }
    return fields;
  }

  PageResponse post(String path, Map<String, String> form) {
    return ask("POST", path, form, OWN);
  }

  static List<String> texts(Document page, String selector) {
    return page.select(selector).eachText();
  }

  @Override
  public void close() {
    page.close();
  }
}
