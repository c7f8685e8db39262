package dev.outbox.dev.torture;

/**
 * A process that is one of a group of consumers, until it is told to end or killed. It writes down
 * what it gets: "got PARTITION OFFSET ID KEY".
 */
final class ConsumerMain {
  private final Child child;
  private volatile boolean ending;

  private ConsumerMain(Child child) {
    this.child = child;
  }

  public static void main(String[] args) throws Exception {
    try (Child child = Child.connect()) {
      ConsumerMain consumer = new ConsumerMain(child);
      Thread thread = new Thread(consumer::consume, "consumer");
      thread.start();
      child.say(Child.STARTED);
      while (!child.command().equals(Child.END)) {}
      consumer.ending = true;
      thread.join();
    }
  }

  private void consume() {
    try {
      child.broker().consume(() -> ending, this::got);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void got(Delivery delivery) {
    child
        .journal()
        .write("got", delivery.partition(), delivery.offset(), delivery.id(), delivery.key());
  }
}
