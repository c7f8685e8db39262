package dev.outbox.dev.torture;

/** A process that only produces, until it is told to end or killed. */
final class ProducerMain {
  private static final int THREADS = 2;

  private ProducerMain() {}

  public static void main(String[] args) throws Exception {
    try (Child child = Child.connect();
        Place<?> place = child.place(THREADS)) {
      Producers producers =
          new Producers(child, THREADS, place::begin, () -> null, place.canCommitLater());
      child.parent().say(Child.STARTED);
      producers.obey(place, calm -> {});
    }
  }
}
