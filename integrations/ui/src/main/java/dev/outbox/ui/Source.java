package dev.outbox.ui;

import dev.outbox.Archive;
import dev.outbox.spi.store.ArchiveStore;
import dev.outbox.spi.store.DeadLetterStore;
import dev.outbox.spi.store.InspectionStore;
import dev.outbox.spi.store.PauseStore;
import dev.outbox.spi.store.SchemaStore;
import dev.outbox.spi.store.StatisticsStore;
import java.time.InstantSource;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Where the pages read.
 *
 * @param letters null: nobody may decide about dead letters here
 * @param pauses null: nobody may pause anything here
 * @param person who decides, unless somebody else is named
 * @param mask keeps secrets out of what drivers and brokers say
 */
record Source(
    InspectionStore messages,
    StatisticsStore figures,
    @Nullable DeadLetterStore letters,
    @Nullable PauseStore pauses,
    String person,
    UnaryOperator<String> mask,
    InstantSource clock) {

  /**
   * What is needed for a change.
   *
   * @throws Refusal when there is none
   */
  static <A> A allowed(@Nullable A ability) {
    if (ability == null) {
      throw new Refusal(403, "This page only shows: its program was not told to allow changes.");
    }
    return ability;
  }

  /** Whether there is an audit, in which decisions are written down. */
  boolean hasAudit() {
    return letters instanceof ArchiveStore archive && archive.archive() != Archive.NONE;
  }

  /** Where the tables are; null: the store cannot say. */
  @Nullable String place() {
    return figures instanceof SchemaStore schema ? schema.place() : null;
  }

  @Nullable String masked(@Nullable String error) {
    return error == null ? null : mask.apply(error);
  }
}
