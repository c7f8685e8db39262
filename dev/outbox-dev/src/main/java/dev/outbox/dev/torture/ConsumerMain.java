package dev.outbox.dev.torture;

import dev.outbox.cli.Failure;
import dev.outbox.dev.broker.Source;
import dev.outbox.dev.broker.Source.Reading;
import dev.outbox.dev.broker.Source.Received;
import java.util.Random;

/**
 * A process that is one of a group of consumers, until it is told to end or killed. It writes down
 * what it gets: "got PARTITION OFFSET ID KEY". {@link Handling} does the rest.
 */
final class ConsumerMain {
  private final Child child;
  private final Handling<?> handling;
  private final Random random;
  private volatile boolean ending;

  private ConsumerMain(Child child, Handling<?> handling) {
    this.child = child;
    this.handling = handling;
    random = new Random(child.seed() - 1);
  }

  public static void main(String[] args) throws Exception {
    try (Child child = Child.connect();
        Handling<?> handling = Handling.of(child)) {
      ConsumerMain consumer = new ConsumerMain(child, handling);
      Thread thread = new Thread(consumer::consume, "consumer");
      thread.start();
      child.parent().say(Child.STARTED);
      while (!child.parent().command().equals(Child.END)) {}
      consumer.ending = true;
      thread.join();
    }
  }

  private void consume() {
    while (!ending) {
      try (Source source = child.broker().source(Reading.TOGETHER)) {
        while (!ending) {
          source.poll(this::got);
        }
      } catch (Failure e) {
        System.err.println("once more, after " + e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }

  private void got(Received message) {
    child
        .journal()
        .write("got", message.partition(), message.offset(), message.id(), message.key());
    handling.handle(message.id(), random);
  }
}
