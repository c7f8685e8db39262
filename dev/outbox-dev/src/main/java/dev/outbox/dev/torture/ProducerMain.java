package dev.outbox.dev.torture;

import dev.outbox.dev.database.Tortured;

/** A process that only produces, until it is told to end or killed. */
final class ProducerMain {
  private static final int THREADS = 2;

  private ProducerMain() {}

  public static void main(String[] args) throws Exception {
    try (Child child = Child.connect();
        Tortured<?> place = child.place(THREADS)) {
      run(child, place);
    }
  }

  private static <T> void run(Child child, Tortured<T> place) throws InterruptedException {
    Producers<T> producers = new Producers<>(child, THREADS, place, place::begin, () -> null);
    child.parent().say(Child.STARTED);
    producers.obey(calm -> {});
  }
}
