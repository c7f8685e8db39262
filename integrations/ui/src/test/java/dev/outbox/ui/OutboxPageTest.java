package dev.outbox.ui;

import static dev.outbox.ui.Fixture.message;
import static dev.outbox.ui.Fixture.texts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.TransientOutboxException;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StatisticsStore;
import dev.outbox.store.memory.MemoryOutboxStore;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.jsoup.Jsoup;
import org.jsoup.nodes.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("The page")
class OutboxPageTest {
  private static final String HOSTILE = "<script>alert(1)</script>\"'><b onclick=x>\u202Egeheim";

  private final Fixture outbox = Fixture.readOnly();

  @AfterEach
  void close() {
    outbox.close();
  }

  private static Decision halt(String error) {
    return Decision.deadHaltingKey(error);
  }

  private void fill() {
    outbox.append(
        message("order", "7").eventType("Paid"),
        message("order", "7").eventType("Sent"),
        message("order", "8").dedupKey("8/placed"),
        message("mail", "9"),
        message("mail", "9"),
        message("order", "10").deliverAfter(Duration.ofHours(1)));
    outbox.settle(
        stored ->
            switch (stored.key()) {
              case "order/7" -> stored.sequence() == 1 ? halt("record 1 is too large") : null;
              case "mail/9" ->
                  stored.sequence() == 4
                      ? Decision.retry(Duration.ofMinutes(5), "no answer within 20 s")
                      : null;
              default -> Decision.dead("unknown topic");
            });
  }

  @Nested
  @DisplayName("first")
  class First {
    @Test
    @DisplayName("says the age of the oldest free message, and that it is delivered")
    void delivering() {
      outbox.append(message("order", "1"));
      outbox.pass(Duration.ofMillis(1_500));
      assertThat(texts(outbox.see(""), "#top"))
          .containsExactly("1.5 s oldest free message: delivering");
    }

    @Test
    @DisplayName(
        "says that what is not taken stands still, and that a backlog which moves does not")
    void standsStill() {
      outbox.append(message("order", "1"));
      outbox.pass(Duration.ofMinutes(3));
      assertThat(outbox.see("").select("#top").text()).contains("delivering a backlog");
      outbox.pass(Duration.ofSeconds(20));
      assertThat(outbox.see("").select("#top").text())
          .startsWith("3 min 20 s oldest free message: standing still although");
      outbox.append(message("order", "2"));
      outbox.settle(
          stored ->
              stored.key().equals("order/1")
                  ? Decision.delivered()
                  : Decision.retryUncounted(Duration.ZERO, "x"));
      outbox.pass(Duration.ofSeconds(70));
      assertThat(outbox.see("").select("#top").text()).doesNotContain("although");
    }

    @Test
    @DisplayName("names what halts a key and what waits, with links there")
    void reasons() {
      fill();
      Document page = outbox.see("");
      assertThat(page.select("#top").text()).isNotBlank();
      assertThat(texts(page, "section:has(h2:contains(To look at)) li"))
          .anySatisfy(
              why ->
                  assertThat(why)
                      .matches(
                          "halted key: key order/7 is halted by dead letter 1, 1 behind it.*"
                              + " outbox dead-letters requeue 1, or outbox dead-letters discard 1"))
          .anySatisfy(
              why ->
                  assertThat(why)
                      .startsWith(
                          "failed key: 1 key is waiting for a retry, as key mail/9 behind message 4"))
          .anySatisfy(
              why ->
                  assertThat(why)
                      .startsWith("dead letters: 2 dead letters wait for a decision, as 1 "));
      for (String link : page.select("main a").eachAttr("href")) {
        assertThat(outbox.get(link).status()).as(link).isEqualTo(200);
      }
    }

    @Test
    @DisplayName("counts the states, and draws what it has seen")
    void counts() {
      fill();
      outbox.see("");
      assertThat(outbox.see("").select("polyline")).isEmpty();
      outbox.pass(Duration.ofSeconds(10));
      Document page = outbox.see("");
      assertThat(texts(page, ".card strong")).containsExactly("–", "0", "3", "1", "2");
      assertThat(page.select(".card polyline")).hasSize(5);
      assertThat(page.select("main").text()).contains("The lines show the last 10 s");
    }
  }

  @Nested
  @DisplayName("lists messages")
  class Lists {
    @ParameterizedTest(name = "[{index}] {0}")
    @DisplayName("by a filter in the address")
    @CsvSource({
      "'', 1 2 3 4 5 6",
      "status=dead, 1 3",
      "status=blocked, 2 4 5",
      "status=scheduled, 6",
      "type=mail, 4 5",
      "key=order%2F7, 1 2",
      "event=Paid, 1",
      "dedup=8%2Fplaced, 3",
      "dedup=8, ''",
      "error=topic, 3",
      "error=Topic, ''",
      "older=PT1M, 1 2 3 4 5 6",
      "older=PT1H, ''"
    })
    void filters(String query, String sequences) {
      fill();
      outbox.pass(Duration.ofMinutes(2));
      Document page = outbox.see("messages?" + query);
      assertThat(String.join(" ", texts(page, "tbody th"))).isEqualTo(sequences);
      query = query.replace("%2F", "/");
      assertThat(
              page.select(".filters input[value], .filters option[selected]").stream()
                  .map(
                      field ->
                          field.is("option")
                              ? field.parent().attr("name") + "=" + field.val()
                              : field.attr("name") + "=" + field.val()))
          .containsExactlyElementsOf(query.isEmpty() ? List.of() : List.of(query));
    }

    @Test
    @DisplayName("page by page, each once, with the filters")
    void pages() {
      outbox.append(60, "order");
      Document first = outbox.see("messages?type=order");
      String next = first.select("a:contains(Next page)").attr("href");
      assertThat(texts(first, "tbody th")).hasSize(50);
      assertThat(next).contains("type=order");
      Document second = outbox.see(next);
      assertThat(texts(second, "tbody th"))
          .containsExactlyElementsOf(IntStream.rangeClosed(51, 60).mapToObj(i -> "" + i).toList());
      assertThat(second.select("a:contains(Next page)")).isEmpty();
    }

    @ParameterizedTest
    @DisplayName("and says what is wrong with a filter")
    @CsvSource({
      "status=lost, 'status is ''lost'', pending, scheduled, blocked or dead is needed'",
      "id=x, 'id is ''x'', a UUID is needed'",
      "older=soon, 'older is ''soon'', a time as PT10M is needed'",
      "older=PT9223372036854775807S, 'older is ''PT9223372036854775807S'', a time as PT10M is needed'",
      "older=PT-9223372036854775807S, 'older is ''PT-9223372036854775807S'', a time as PT10M is needed'",
      "after=nowhere, 'This cannot be shown: after is nowhere'"
    })
    void wrong(String query, String sentence) {
      PageResponse response = outbox.get("messages?" + query);
      assertThat(response.status()).isEqualTo(400);
      assertThat(Jsoup.parse(response.body()).select(".notice").text()).startsWith(sentence);
    }
  }

  @Nested
  @DisplayName("shows one message")
  class OneOfThem {
    @Test
    @DisplayName("with what happened, and its payload only when it is asked for")
    void timeline() {
      outbox.append(
          message("order", "7")
              .payload("{\"big\":12345678901234567890,\"a\":[],\"text\":\"a, b\"}")
              .header("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
              .correlationId("c-1"));
      outbox.settle(stored -> Decision.retry(Duration.ofMinutes(5), "no answer\nfrom geheim"));
      Document page = outbox.see("message?sequence=1");
      assertThat(texts(page, ".timeline strong"))
          .startsWith("Appended", "Failed tries: 1")
          .endsWith("Now");
      assertThat(page.select(".timeline pre").text()).contains("no answer").contains("***");
      assertThat(page.select("dd").eachText())
          .contains("order/7", "order", "7", "Placed", "c-1", "4bf92f3577b34da6a3ce929d0e0e4736");
      assertThat(page.html()).doesNotContain("12345678901234567890", "geheim");
      Document payload = outbox.see(page.select("a:contains(Show the payload)").attr("href"));
      assertThat(payload.select("pre").first().wholeText())
          .isEqualTo("{\n  \"big\": 12345678901234567890,\n  \"a\": [],\n  \"text\": \"a, b\"\n}");
    }

    @Test
    @DisplayName("behind which one it waits")
    void behind() {
      fill();
      assertThat(outbox.see("message?sequence=2").select(".timeline a").attr("href"))
          .isEqualTo("message?sequence=1");
      assertThat(texts(outbox.see("message?sequence=1"), ".timeline li"))
          .last()
          .asString()
          .contains("halts its key");
    }

    @Test
    @DisplayName("that is no text, or very large")
    void payloads() {
      outbox.append(
          message("a", "1").payload(new byte[] {0, 1, (byte) 0xff}).contentType("x/y"),
          message("a", "2").payload("[".repeat(1_000_000)),
          message("a", "3").payload("plain\ttext <b>\r\n\u0085€").contentType("text/plain"),
          message("a", "4").payload("a\u001B[2J").contentType("text/plain"));
      assertThat(outbox.see("payload?sequence=1").select("pre").text())
          .isEqualTo("000000  00 01 ff");
      assertThat(outbox.see("payload?sequence=2").select("pre").text()).hasSize(1_000_000);
      assertThat(outbox.see("payload?sequence=3").select("pre").first().wholeText())
          .isEqualTo("plain  text <b>\n\\u0085€");
      assertThat(outbox.see("payload?sequence=4").select("pre").text())
          .isEqualTo("000000  61 1b 5b 32 4a");
    }

    @Test
    @DisplayName("or that it is gone")
    void gone() {
      assertThat(outbox.get("message?sequence=99").status()).isEqualTo(404);
      assertThat(outbox.get("message?sequence=x").status()).isEqualTo(400);
      assertThat(outbox.get("message").status()).isEqualTo(400);
    }
  }

  @Test
  @DisplayName("groups dead letters by errors, without what varies")
  void groups() {
    outbox.append(30, "order");
    outbox.settle(
        stored ->
            Decision.dead(
                stored.sequence() % 3 == 0
                    ? "unknown topic"
                    : "record " + stored.sequence() + " is too large"));
    Document page = outbox.see("dead-letters");
    assertThat(texts(page, "tbody th")).containsExactly("record … is too large", "unknown topic");
    assertThat(texts(page, "tbody td:eq(1)")).containsExactly("20", "10");
    assertThat(page.select(".decide")).isEmpty();
  }

  @Test
  @DisplayName("shows keys that wait, and only those that are halted")
  void keys() {
    fill();
    assertThat(texts(outbox.see("keys"), "tbody th"))
        .containsExactlyInAnyOrder("order/7", "mail/9");
    Document halted = outbox.see("keys?halted=yes");
    assertThat(texts(halted, "tbody td"))
        .containsExactly("dead letter 1", "somebody decides", "1 message", "record 1 is too large");
  }

  @Test
  @DisplayName("shows what others wrote, and does not do it")
  void hostile() {
    outbox.append(
        message(HOSTILE, HOSTILE)
            .eventType(HOSTILE)
            .correlationId(HOSTILE)
            .header(HOSTILE, HOSTILE)
            .payload(HOSTILE)
            .contentType("text/html"),
        message(HOSTILE, HOSTILE));
    outbox.settle(stored -> halt(HOSTILE));
    for (String address :
        List.of(
            "",
            "messages",
            "message?sequence=1",
            "payload?sequence=1",
            "dead-letters",
            "keys",
            "messages?key=" + "%22%3E%3Cscript%3E")) {
      String body = outbox.get(address).body();
      assertThat(body).as(address).doesNotContain("\u202E", "<b ");
      Document page = Jsoup.parse(body);
      assertThat(page.select("script")).as(address).hasSize(1);
      assertThat(page.select("script").attr("src")).isEqualTo("page.js");
      assertThat(page.select("[onclick], [style], style, iframe, object")).isEmpty();
    }
    assertThat(outbox.see("message?sequence=1").select("dd").text())
        .contains("<script>", "\\u202e");
  }

  @ParameterizedTest
  @DisplayName("allows nothing but its own files, whatever it answers")
  @ValueSource(strings = {"", "messages?status=x", "nothing", "style.css", "page.js", "requeue"})
  void headers(String address) {
    assertThat(outbox.get(address).headers())
        .hasEntrySatisfying(
            "Content-Security-Policy",
            policy ->
                assertThat(policy)
                    .startsWith("default-src 'none'; style-src 'self'; script-src 'self'")
                    .contains("frame-ancestors 'none'")
                    .doesNotContain("unsafe"))
        .containsEntry("X-Content-Type-Options", "nosniff")
        .containsEntry("Referrer-Policy", "same-origin")
        .containsEntry("Cache-Control", "no-store");
  }

  @Test
  @DisplayName("says in one sentence why the database cannot be read, without its secrets")
  void fails() {
    MemoryOutboxStore away =
        new MemoryOutboxStore() {
          @Override
          public Statistics statistics(int cap) {
            throw new TransientOutboxException("no connection to db?password=geheim", null);
          }
        };
    try (OutboxPage page = OutboxPage.builder(away).mask(t -> t.replace("geheim", "***")).build()) {
      PageResponse response = page.answer(new PageRequest("GET", "", Map.of(), Map.of(), Map.of()));
      assertThat(response.status()).isEqualTo(503);
      assertThat(response.body())
          .contains("The outbox cannot be read: no connection to db?password=***")
          .doesNotContain("geheim", "\tat ");
    }
  }

  @Test
  @DisplayName("does not wait for a database that hangs")
  void hangs() {
    CountDownLatch never = new CountDownLatch(1);
    MemoryOutboxStore hanging =
        new MemoryOutboxStore() {
          @Override
          public Statistics statistics(int cap) {
            try {
              never.await();
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
            return super.statistics(cap);
          }
        };
    try (OutboxPage page = OutboxPage.builder(hanging).limit(Duration.ofMillis(20)).build()) {
      PageResponse response = page.answer(new PageRequest("GET", "", Map.of(), Map.of(), Map.of()));
      assertThat(response.status()).isEqualTo(503);
      assertThat(response.body()).contains("has not answered within");
    }
  }

  @Test
  @DisplayName("needs a store in which it can look")
  void needs() {
    StatisticsStore counted = cap -> new MemoryOutboxStore().statistics(cap);
    assertThatThrownBy(() -> OutboxPage.builder(counted))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("the page needs a store that is an InspectionStore");
  }

  @Test
  @DisplayName("answers GET and nothing else where nothing can be changed")
  void methods() {
    assertThat(outbox.post("messages", Map.of()).status()).isEqualTo(405);
    assertThat(outbox.ask("DELETE", "requeue", Map.of(), Fixture.OWN).status()).isEqualTo(405);
    assertThat(outbox.get("nothing").status()).isEqualTo(404);
  }

  @Test
  @DisplayName("without leave changes nothing, and offers nothing")
  void readOnly() {
    fill();
    assertThat(outbox.see("message?sequence=1").select(".decide")).isEmpty();
    assertThat(outbox.get("requeue?sequence=1").status()).isEqualTo(403);
    assertThat(outbox.post("discard", Map.of("sequence", "1", "sure", "yes")).status())
        .isEqualTo(403);
    assertThat(outbox.store.deadLetters(0, 10)).hasSize(2);
  }
}
