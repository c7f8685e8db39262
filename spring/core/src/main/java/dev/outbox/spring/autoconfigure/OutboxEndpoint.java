package dev.outbox.spring.autoconfigure;

import dev.outbox.relay.RelayEvent;
import dev.outbox.relay.RelayState;
import dev.outbox.spi.store.StatisticsStore.Statistics;
import dev.outbox.spring.OutboxRelay;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;

/**
 * What waits, and how the relay is. It shows what the meters have read and the relay has told, so
 * that asking often costs the database nothing. It shows no message: those are for the operator's
 * program.
 */
@Endpoint(id = "outbox", defaultAccess = Access.READ_ONLY)
record OutboxEndpoint(
    RelayState state,
    @Nullable OutboxRelay relay,
    @Nullable LastReading reading,
    ListableBeanFactory beans) {

  /**
   * The answer.
   *
   * @param relay null where none is in this application
   * @param waiting null where there are no meters
   * @param others of further data sources, by their names; null where there are none
   */
  record Answer(
      @Nullable RelayAnswer relay,
      @Nullable Waiting waiting,
      @Nullable Map<String, Answer> others) {}

  /**
   * The relay of this process.
   *
   * @param state running, stopped, threads ended, or failing: the store refuses what it asks for
   * @param broker reachable, or why not
   * @param unavailable what cannot be reached while the broker can
   */
  record RelayAnswer(
      String state,
      @Nullable String name,
      @Nullable Integer workers,
      @Nullable String place,
      String broker,
      List<RelayState.Unavailable> unavailable) {}

  /**
   * What waits for any relay; a number that is equal to the cap says "so many or more".
   *
   * @param secondsSinceRead since the last good reading; without one it has no numbers
   */
  record Waiting(
      double secondsSinceRead,
      @Nullable Integer cap,
      @Nullable Long pending,
      @Nullable Long scheduled,
      @Nullable Long blocked,
      @Nullable Long dead,
      @Nullable Long blockedKeys,
      @Nullable Long haltedKeys,
      @Nullable Double oldestFreeSeconds,
      @Nullable Double oldestBlockedSeconds,
      @Nullable Integer relays) {

    static Waiting of(LastReading reading) {
      double age = seconds(reading.age().get());
      Statistics read = reading.statistics().get();
      return read == null
          ? new Waiting(age, null, null, null, null, null, null, null, null, null, null)
          : new Waiting(
              age,
              read.cap(),
              read.pending(),
              read.scheduled(),
              read.blocked(),
              read.dead(),
              read.blockedKeys(),
              read.haltedKeys(),
              read.oldestFree() == null ? null : seconds(read.oldestFree()),
              read.oldestBlocked() == null ? null : seconds(read.oldestBlocked()),
              read.relays());
    }

    private static double seconds(Duration time) {
      return time.toMillis() / 1000.0;
    }
  }

  @ReadOperation
  Answer outbox() {
    Map<String, Answer> others = new TreeMap<>();
    Relays.others(beans)
        .forEach(
            other ->
                others.put(
                    other.name(), answer(other.relay(), other.state(), other.reading(), null)));
    return answer(relay, state, reading, others.isEmpty() ? null : others);
  }

  private static Answer answer(
      @Nullable OutboxRelay relay,
      RelayState state,
      @Nullable LastReading reading,
      @Nullable Map<String, Answer> others) {
    return new Answer(
        relay == null ? null : answer(relay, state),
        reading == null ? null : Waiting.of(reading),
        others);
  }

  private static RelayAnswer answer(OutboxRelay relay, RelayState state) {
    RelayEvent.Started started = state.started();
    return new RelayAnswer(
        word(relay, state),
        started == null ? null : started.who(),
        started == null ? null : started.workers(),
        started == null ? null : started.place(),
        state.broker(),
        state.unavailable());
  }

  private static String word(OutboxRelay relay, RelayState state) {
    if (!relay.isRunning()) {
      return "stopped";
    }
    if (!relay.isAlive()) {
      return "threads ended";
    }
    return state.failing() == null ? "running" : "failing";
  }
}
