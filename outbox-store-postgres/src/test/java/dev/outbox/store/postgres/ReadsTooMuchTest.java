package dev.outbox.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import dev.outbox.Appended;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spi.store.StatisticsStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.platform.engine.FilterResult;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.PostDiscoveryFilter;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Event;

/**
 * What the suite says to stores that read more than they need: {@code docs/tck.md} quotes it. That
 * takes a database to show, so they are this store, made wrong in one place; all other broken
 * stores are those of {@code outbox-tck}.
 */
class ReadsTooMuchTest {
  private static final Path PAGE = Path.of("..", "docs", "tck.md");

  /** No index at all. */
  static class ReadsEverything extends PostgresStoreTck {
    @BeforeAll
    void dropIndexes() {
      database()
          .execute(
              """
              do $$ declare sql text; begin
                for sql in
                  select format('alter table %s drop constraint %I', conrelid::regclass, conname)
                  from pg_constraint
                  where conrelid = 'outbox_message'::regclass and contype in ('p', 'u')
                loop execute sql; end loop;
                for sql in
                  select format('drop index %s', indexrelid::regclass)
                  from pg_index where indrelid = 'outbox_message'::regclass
                loop execute sql; end loop;
              end $$
              """);
    }
  }

  /** Counts what waits by reading all of it. */
  static class CountsEverything extends PostgresStoreTck {
    @Override
    public <R> Counted<R> counted(
        OutboxStore<Connection> store, Function<OutboxStore<Connection>, R> work) {
      return super.counted(store, counted -> work.apply(new WithoutCap(counted)));
    }
  }

  private record WithoutCap(OutboxStore<Connection> store)
      implements OutboxStore<Connection>, StatisticsStore {
    @Override
    public Appended append(Connection transaction, List<OutboxMessage> messages) {
      return store.append(transaction, messages);
    }

    @Override
    public Claim claim(Claim.Request request) {
      return store.claim(request);
    }

    @Override
    public Statistics statistics(int cap) {
      Statistics all = ((StatisticsStore) store).statistics(Integer.MAX_VALUE);
      return new Statistics(
          cap,
          Math.min(cap, all.pending()),
          Math.min(cap, all.scheduled()),
          Math.min(cap, all.blocked()),
          Math.min(cap, all.dead()),
          Math.min(cap, all.blockedKeys()),
          Math.min(cap, all.haltedKeys()),
          all.oldestFree(),
          all.oldestBlocked(),
          all.relays());
    }
  }

  /** The sentences of the tests that fail, of those of this name. */
  private static List<String> told(Class<?> suite, String test) {
    PostDiscoveryFilter named =
        each ->
            FilterResult.includedIf(
                each.isContainer()
                    || each.getSource().orElse(null) instanceof MethodSource source
                        && source.getMethodName().equals(test));
    return EngineTestKit.engine("junit-jupiter")
        .selectors(selectClass(suite))
        .filters(named)
        .configurationParameter("outbox.tck.summary", "false")
        .execute()
        .allEvents()
        .failed()
        .stream()
        .map(ReadsTooMuchTest::sentence)
        .toList();
  }

  private static String sentence(Event event) {
    Throwable thrown =
        event.getRequiredPayload(TestExecutionResult.class).getThrowable().orElseThrow();
    return comparable(String.valueOf(thrown.getMessage()));
  }

  /** The first line, without what differs from run to run: numbers. */
  private static String comparable(String text) {
    return text.strip().lines().findFirst().orElse("").replaceAll("[0-9]+([.,][0-9]+)*", "#");
  }

  private static String onThePage(Class<?> store) throws IOException {
    Matcher section =
        Pattern.compile("(?ms)^### `" + store.getSimpleName() + "`$.*?^> (.*?)$")
            .matcher(Files.readString(PAGE));
    assertThat(section.find()).as("%s has a section", store).isTrue();
    return comparable(section.group(1));
  }

  @Test
  @DisplayName("a claim that reads all that waits is told what docs/tck.md says")
  void claims() throws IOException {
    assertThat(told(ReadsEverything.class, "claimBesideABacklog"))
        .containsExactly(onThePage(ReadsEverything.class));
  }

  @Test
  @DisplayName("statistics that count to the end are told what docs/tck.md says")
  void statistics() throws IOException {
    assertThat(told(CountsEverything.class, "statisticsOfABacklog"))
        .containsExactly(onThePage(CountsEverything.class));
  }
}
