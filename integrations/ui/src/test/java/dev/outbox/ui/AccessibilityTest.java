package dev.outbox.ui;

import static dev.outbox.ui.Fixture.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Archive;
import dev.outbox.spi.store.Decision;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jsoup.nodes.Document;
import org.jsoup.nodes.Element;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("Everybody can use the page")
class AccessibilityTest {
  /** WCAG 2.2, level AA, for text of any size. */
  private static final double LEAST_CONTRAST = 4.5;

  private static final Pattern COLOR =
      Pattern.compile("--([a-z-]+): light-dark\\(#([0-9a-f]{6}), #([0-9a-f]{6})\\);");

  private final Fixture outbox = new Fixture(Archive.FULL, true);

  @BeforeEach
  void fill() {
    outbox.append(
        message("order", "1").header("a", "b"), message("order", "1"), message("order", "2"));
    outbox.settle(
        stored ->
            stored.key().equals("order/1")
                ? Decision.deadHaltingKey("too large")
                : Decision.dead("no topic"));
  }

  @AfterEach
  void close() {
    outbox.close();
  }

  @ParameterizedTest
  @DisplayName("by its structure")
  @ValueSource(
      strings = {
        "",
        "messages",
        "message?sequence=1",
        "payload?sequence=1",
        "dead-letters",
        "keys",
        "requeue?sequence=1",
        "pause",
        "resume?type=order",
        "discard"
      })
  void structure(String address) {
    Document page = outbox.see(address);
    assertThat(page.select("html").attr("lang")).isEqualTo("en");
    assertThat(page.title()).isNotBlank();
    assertThat(page.select("main")).hasSize(1);
    assertThat(page.select("header nav[aria-label]")).hasSize(1);
    assertThat(page.select("h1")).hasSize(1);
    assertThat(page.select("h3, h4, h5, h6")).isEmpty();
    assertThat(page.select("[id]").eachAttr("id")).doesNotHaveDuplicates();
    assertThat(page.select("a[href^=#]").attr("href")).isEqualTo("#main");
    assertThat(page.select("th:not([scope])")).isEmpty();
    assertThat(page.select("table:not(:has(caption))")).isEmpty();
    assertThat(page.select("th").eachText()).doesNotContain("");
    assertThat(page.select("a, button, label, h1, h2")).allMatch(Element::hasText);
    assertThat(page.select("input:not([type=hidden]), select"))
        .allMatch(field -> field.closest("label") != null);
    assertThat(page.select("svg:not([aria-hidden])")).isEmpty();
    assertThat(page.select("[tabindex]").eachAttr("tabindex")).isSubsetOf("0");
    assertThat(page.select("pre[tabindex]")).allMatch(pre -> pre.hasAttr("aria-label"));
  }

  @Test
  @DisplayName("who cannot see it is told when it changes")
  void live() {
    assertThat(outbox.see("").select("#verdict[role=status][data-live]")).hasSize(1);
  }

  @Test
  @DisplayName("by the contrast of its colours, light and dark")
  void contrast() {
    String css = outbox.get("style.css").body();
    Map<String, String> light = new HashMap<>();
    Map<String, String> dark = new HashMap<>();
    Matcher color = COLOR.matcher(css);
    while (color.find()) {
      light.put(color.group(1), color.group(2));
      dark.put(color.group(1), color.group(3));
    }
    assertThat(dark).doesNotContainEntry("ground", light.get("ground"));
    for (Map<String, String> theme : List.of(light, dark)) {
      for (String pair :
          List.of(
              "ink ground",
              "ink paper",
              "muted ground",
              "muted paper",
              "link ground",
              "link paper",
              "bad paper",
              "bad ground",
              "fine fine-ground",
              "care care-ground",
              "bad bad-ground",
              "on-button button")) {
        String[] two = pair.split(" ");
        assertThat(contrast(theme.get(two[0]), theme.get(two[1])))
            .as("%s of %s", pair, theme)
            .isGreaterThanOrEqualTo(LEAST_CONTRAST);
      }
    }
  }

  private static double contrast(String one, String other) {
    double a = luminance(one) + 0.05;
    double b = luminance(other) + 0.05;
    return Math.max(a, b) / Math.min(a, b);
  }

  private static double luminance(String color) {
    return 0.2126 * linear(color, 0) + 0.7152 * linear(color, 2) + 0.0722 * linear(color, 4);
  }

  private static double linear(String color, int at) {
    double value = Integer.parseInt(color.substring(at, at + 2), 16) / 255.0;
    return value <= 0.04045 ? value / 12.92 : Math.pow((value + 0.055) / 1.055, 2.4);
  }
}
