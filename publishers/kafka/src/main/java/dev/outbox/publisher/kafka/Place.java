package dev.outbox.publisher.kafka;

/**
 * Where a record goes. Trouble is kept by partition, because one of a topic's partitions can be
 * without a leader, or have one that hangs, while the others work.
 *
 * @param partition {@link #ANY} when it is the topic as a whole
 */
record Place(String topic, int partition) {
  static final int ANY = -1;

  static Place topic(String topic) {
    return new Place(topic, ANY);
  }

  private boolean isPartition() {
    return partition != ANY;
  }

  /** For the relay: a topic's name has no slash in it. */
  String destination() {
    return isPartition() ? topic + "/" + partition : topic;
  }

  /** For people. */
  @Override
  public String toString() {
    return isPartition() ? "topic %s, partition %s".formatted(topic, partition) : "topic " + topic;
  }
}
