package dev.outbox.ui;

import static dev.outbox.ui.Fixture.filled;
import static dev.outbox.ui.Fixture.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Archive;
import dev.outbox.spi.store.ArchiveStore.Action;
import dev.outbox.spi.store.Decision;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jsoup.Jsoup;
import org.jsoup.nodes.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("On the page, somebody who may")
class DecidingTest {
  private final Fixture outbox = new Fixture(Archive.METADATA, true);

  @AfterEach
  void close() {
    outbox.close();
  }

  /** 250 that are too large and 3 without a topic. */
  private void die() {
    outbox.append(250, "order");
    outbox.append(3, "mail");
    outbox.settle(
        stored ->
            Decision.dead(
                stored.key().startsWith("mail")
                    ? "unknown topic"
                    : "record " + stored.sequence() + " is too large"));
  }

  private int dead() {
    return outbox.store.deadLetters(0, 1_000).size();
  }

  private Document look(String group, String verb) {
    Document letters = outbox.see("dead-letters");
    return outbox.see(
        letters.select("tr:contains(" + group + ") a:contains(" + verb + ")").attr("href"));
  }

  @Test
  @DisplayName("sees what would happen, requeues a group, and stands in the audit")
  void requeues() {
    die();
    assertThat(outbox.see("").select(".card:contains(dead) strong").text()).isEqualTo("253");
    Document look = look("too large", "Requeue");
    assertThat(look.select("h1").text()).isEqualTo("Requeue 250 dead letters");
    assertThat(look.select("tbody").text()).isEqualTo("order · Placed 250");
    assertThat(dead()).isEqualTo(253);

    PageResponse done = outbox.post("requeue", filled(look, "why", "the topic is there"));
    assertThat(done.status()).isEqualTo(303);
    assertThat(outbox.see(done.headers().get("Location")).select(".done").text())
        .isEqualTo("250 requeued.");
    assertThat(dead()).isEqualTo(3);
    assertThat(outbox.see("").select(".card:contains(dead) strong").text()).isEqualTo("3");
    assertThat(outbox.store.audit(Instant.EPOCH, 1_000))
        .hasSize(250)
        .allSatisfy(
            entry -> {
              assertThat(entry.action()).isEqualTo(Action.REQUEUED);
              assertThat(entry.who()).isEqualTo("ann");
              assertThat(entry.reason()).isEqualTo("the topic is there");
            });
  }

  @Test
  @DisplayName("discards only when it is confirmed")
  void discards() {
    die();
    Document look = look("unknown topic", "Discard");
    PageResponse unsure = outbox.post("discard", filled(look));
    assertThat(unsure.body()).contains("Say that they may be removed for good.");
    assertThat(dead()).isEqualTo(253);
    assertThat(outbox.post("discard", filled(look, "sure", "yes", "by", "bob")).status())
        .isEqualTo(303);
    assertThat(dead()).isEqualTo(250);
    assertThat(outbox.store.audit(Instant.EPOCH, 10))
        .hasSize(3)
        .allMatch(entry -> entry.who().equals("bob") && entry.action() == Action.DISCARDED);
  }

  @Test
  @DisplayName("cancels a message until it is due, when it is confirmed")
  void cancels() {
    outbox.append(message("order", "1").deliverAfter(Duration.ofHours(1)));
    outbox.append(message("order", "2").deliverAfter(Duration.ofHours(2)));
    Document one = outbox.see("message?sequence=1");
    assertThat(one.select(".decide a").text()).isEqualTo("Cancel…");
    Document look = outbox.see(one.select(".decide a").attr("href"));
    assertThat(look.select("h1").text()).isEqualTo("Cancel 1 message");
    PageResponse unsure = outbox.post("cancel", filled(look));
    assertThat(unsure.body()).contains("Say that they may be removed for good.");
    PageResponse done = outbox.post("cancel", filled(look, "sure", "yes", "by", "bob"));
    assertThat(done.headers().get("Location")).isEqualTo("messages?cancelled=1");
    assertThat(outbox.see("messages?cancelled=1").select(".done").text()).isEqualTo("1 cancelled.");
    assertThat(outbox.store.message(1)).isEmpty();
    assertThat(outbox.store.audit(Instant.EPOCH, 10))
        .singleElement()
        .matches(entry -> entry.who().equals("bob") && entry.sequence() == 1);

    Document late = outbox.see("cancel?sequence=2");
    outbox.pass(Duration.ofHours(2));
    PageResponse tooLate = outbox.post("cancel", filled(late, "sure", "yes"));
    assertThat(outbox.see(tooLate.headers().get("Location")).select(".done").text())
        .isEqualTo("Too late: it is due, or it is gone.");
    assertThat(outbox.store.message(2)).isPresent();
    assertThat(outbox.get("cancel").status()).isEqualTo(400);
  }

  @Test
  @DisplayName("is asked twice before letters are discarded that halt their keys")
  void asksTwice() {
    outbox.append(message("order", "1"), message("order", "1"));
    outbox.settle(stored -> stored.sequence() == 1 ? Decision.deadHaltingKey("no") : null);
    Document look = outbox.see("discard?sequence=1");
    assertThat(look.text()).contains("1 of them halt their keys");
    assertThat(look.select("input[name=halting]")).isEmpty();
    PageResponse again = outbox.post("discard", filled(look, "sure", "yes"));
    assertThat(again.status()).isEqualTo(200);
    assertThat(dead()).isEqualTo(1);
    Document second = Jsoup.parse(again.body());
    assertThat(second.select("[role=alert]").text()).contains("will go on without them");
    assertThat(outbox.post("discard", filled(second, "halting", "yes")).status()).isEqualTo(303);
    assertThat(dead()).isZero();
  }

  @Test
  @DisplayName("looks again when there are as many, but others")
  void others() {
    die();
    Document look = look("unknown topic", "Requeue");
    outbox.store.requeue(251);
    outbox.append(message("mail", "new"));
    outbox.settle(stored -> stored.sequence() == 251 ? null : Decision.dead("unknown topic"));
    PageResponse answer = outbox.post("requeue", filled(look));
    assertThat(answer.body()).contains("Look again", "Requeue 3 dead letters");
    assertThat(dead()).isEqualTo(253);
  }

  @Test
  @DisplayName("is told when there are none any more")
  void none() {
    die();
    Document look = outbox.see("requeue?sequence=1");
    outbox.store.requeue(1);
    assertThat(outbox.post("requeue", filled(look)).headers().get("Location"))
        .isEqualTo("dead-letters?requeued=0");
    assertThat(outbox.see("requeue?sequence=1").text()).contains("There are none any more.");
  }

  @Test
  @DisplayName("changes nothing by following a link")
  void byLink() {
    die();
    outbox.see("requeue?sequence=1&sure=yes&count=1");
    outbox.see("discard?sequence=1&sure=yes&count=1");
    assertThat(dead()).isEqualTo(253);
  }

  @Test
  @DisplayName("is refused with a form of another site, of another time or for something else")
  void forged() {
    die();
    Map<String, String> form = filled(outbox.see("requeue?sequence=1"));
    Map<String, String> other = new HashMap<>(form);
    other.put("sequence", "2");
    Map<String, String> without = new HashMap<>(form);
    without.remove("token");
    assertThat(outbox.post("requeue", other).status()).isEqualTo(403);
    assertThat(outbox.post("requeue", without).status()).isEqualTo(403);
    assertThat(outbox.post("discard", form).status()).isEqualTo(403);
    for (Map<String, String> headers :
        List.of(
            Map.<String, String>of(),
            Map.of("host", "localhost:8025"),
            Map.of("host", "localhost:8025", "origin", "null"),
            Map.of("host", "localhost:8025", "origin", "http://evil.example"),
            Map.of("host", "localhost:8025", "origin", "http://localhost:8026"),
            Map.of("sec-fetch-site", "same-site"),
            Map.of("sec-fetch-site", "cross-site", "host", "h", "origin", "http://h"))) {
      assertThat(outbox.ask("POST", "requeue", form, headers).status())
          .as("%s", headers)
          .isEqualTo(403);
    }
    assertThat(dead()).isEqualTo(253);
    assertThat(
            outbox.ask("POST", "requeue", form, Map.of("sec-fetch-site", "same-origin")).status())
        .isEqualTo(303);
  }

  @Test
  @DisplayName("is not asked who he is where nobody writes it down")
  void withoutAudit() {
    try (Fixture plain = new Fixture(Archive.NONE, true)) {
      plain.append(message("order", "1"));
      plain.settle(stored -> Decision.dead("no"));
      Document look = plain.see("requeue?sequence=1");
      assertThat(look.select("input[name=by]")).isEmpty();
      assertThat(plain.post("requeue", filled(look)).status()).isEqualTo(303);
      assertThat(plain.store.deadLetters(0, 1)).isEmpty();
    }
  }
}
