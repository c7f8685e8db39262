package dev.outbox.publisher.kafka;

import dev.outbox.publisher.core.SilentPlaces;
import dev.outbox.publisher.core.Unanswered;

/** What all calls of a publisher share. */
record PublisherParts(
    Cluster cluster,
    Records records,
    Topics topics,
    SilentPlaces<Place> places,
    Unanswered unanswered,
    Timing timing) {

  PublisherParts(Cluster cluster, Records records, Timing timing) {
    this(
        cluster,
        records,
        new Topics(timing),
        new SilentPlaces<>(timing.patience(), timing.impatience(), 2 * timing.timeout()),
        new Unanswered(),
        timing);
  }
}
