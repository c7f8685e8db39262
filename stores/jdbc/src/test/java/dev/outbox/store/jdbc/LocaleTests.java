package dev.outbox.store.jdbc;

import static dev.outbox.tck.internal.Decisions.all;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.KeepingStore.Keeper;
import java.time.Duration;
import java.util.Locale;
import java.util.Locale.Category;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** What goes to the database has its digits, whatever the system's language writes. */
@Isolated("the locale is the process's")
public abstract class LocaleTests extends HoldingTests {
  private final Locale before = Locale.getDefault(Category.FORMAT);

  protected LocaleTests(TestedStore tested) {
    super(tested);
  }

  @Override
  protected boolean hasTables() {
    return false;
  }

  @BeforeEach
  void speakPersian() {
    Locale.setDefault(Category.FORMAT, Locale.forLanguageTag("fa-IR"));
    assertThat("%d".formatted(1)).isNotEqualTo("1");
  }

  @AfterEach
  void speakAsBefore() {
    Locale.setDefault(Category.FORMAT, before);
  }

  @Test
  @DisplayName("a relay works where numbers have other digits")
  void digits() {
    store.migrate();
    append("a");
    append("b");
    assertThat(delivered()).as("by claims that stand for themselves").hasSize(2);

    try (Keeper keeper = keeperOfAll(keeping(database.pool), database, PATIENCE)) {
      append("a");
      settleOne(keeper, Decision.deadHaltingKey("a test"));
      append("a");
      append("b");
      settleOne(keeper, Decision.retry(Duration.ZERO, "a test"));
      settleOne(keeper, Decision.delivered());
      append("c");
      assertThat(store.waitingKeys(true, null, 1).found()).hasSize(1);
      assertThat(store.requeue(store.deadLetters(0, 1).get(0).message().sequence())).isTrue();
      store.housekeep();
    }
    assertThat(delivered()).as("of what was requeued, behind it, and not looked at").hasSize(3);
  }

  private static void settleOne(Keeper keeper, Decision decision) {
    Claim claim = claimOne(keeper, request());
    assertThat(claim.settle(all(claim, decision))).as("lost").isEmpty();
  }
}
