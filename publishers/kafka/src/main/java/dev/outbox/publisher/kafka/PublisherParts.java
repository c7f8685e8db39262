package dev.outbox.publisher.kafka;

import dev.outbox.publisher.core.SilentPlaces;

/** What all calls of a publisher share. */
record PublisherParts(
    Cluster cluster, Records records, Topics topics, SilentPlaces<Place> places, Timing timing) {

  PublisherParts(Cluster cluster, Records records, Timing timing) {
    this(
        cluster,
        records,
        new Topics(timing),
        new SilentPlaces<>(timing.patience(), timing.impatience(), 2 * timing.timeout()),
        timing);
  }
}
