package dev.outbox.publisher.handler;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.publisher.PublisherTck;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** The publishers' suite. What handlers have handled has arrived. */
abstract class HandlerTck extends PublisherTck
    implements PublisherTck.BrokerHangs,
        PublisherTck.BrokerRejects,
        PublisherTck.DestinationMissing,
        PublisherTck.DestinationNotDurable,
        PublisherTck.DestinationHangs {
  private static final String REJECTED = "rejected";
  private static final String MISSING = "missing";
  private static final String NOT_DURABLE = "not durable";
  private static final String HANGS = "hangs";

  private final List<Received> handled = new ArrayList<>();
  private volatile CountDownLatch goesOn = new CountDownLatch(0);

  abstract MessagePublisher publisher(MessageHandler handler);

  @Override
  protected final MessagePublisher createPublisher() {
    return publisher(this::handle);
  }

  @Override
  protected final Duration timeout() {
    return Duration.ofSeconds(8);
  }

  private void handle(StoredMessage message) throws InterruptedException {
    switch (message.message().eventType()) {
      case REJECTED -> throw new RejectedException("no such product");
      case MISSING -> throw new UnavailableException("no such service");
      case NOT_DURABLE -> throw new IllegalStateException("the disk is full");
      case HANGS -> new CountDownLatch(1).await();
      default -> {
        goesOn.await();
        synchronized (handled) {
          handled.add(received(message));
        }
      }
    }
  }

  private static Received received(StoredMessage stored) {
    OutboxMessage message = stored.message();
    return Received.of(message.recordKey(), message.payload(), message.headers()).about(stored);
  }

  @Override
  protected final List<Received> received() {
    synchronized (handled) {
      return List.copyOf(handled);
    }
  }

  @Override
  protected final void reset() {
    resumeBroker();
    synchronized (handled) {
      handled.clear();
    }
  }

  @Override
  public final void pauseBroker() {
    goesOn = new CountDownLatch(1);
  }

  @Override
  public final void resumeBroker() {
    goesOn.countDown();
  }

  @Override
  public final OutboxMessage.Builder rejected(OutboxMessage.Builder message) {
    return message.eventType(REJECTED);
  }

  @Override
  public final OutboxMessage.Builder toMissing(OutboxMessage.Builder message) {
    return message.eventType(MISSING);
  }

  @Override
  public final OutboxMessage.Builder toNotDurable(OutboxMessage.Builder message) {
    return message.eventType(NOT_DURABLE);
  }

  @Override
  public final OutboxMessage.Builder toHanging(OutboxMessage.Builder message) {
    return message.eventType(HANGS);
  }
}
