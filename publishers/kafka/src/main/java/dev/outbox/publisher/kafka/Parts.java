package dev.outbox.publisher.kafka;

import dev.outbox.publisher.core.Places;

/** What all calls of a publisher share. */
record Parts(Cluster cluster, Records records, Topics topics, Places<Place> places, Timing timing) {

  Parts(Cluster cluster, Records records, Timing timing) {
    this(
        cluster,
        records,
        new Topics(timing),
        new Places<>(timing.patience(), timing.impatience(), Long.MAX_VALUE),
        timing);
  }
}
