package dev.outbox.relay;

import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.publisher.PublisherTck;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;

/**
 * The publishers' suite on two publishers of one broker. Which of the two has a message follows
 * from its id, so that the messages of each key go now to this one and now to the other.
 */
class RoutingPublisherTckTest extends PublisherTck
    implements PublisherTck.BrokerCrashes,
        PublisherTck.BrokerHangs,
        PublisherTck.BrokerRejects,
        PublisherTck.DestinationMissing,
        PublisherTck.DestinationNotDurable,
        PublisherTck.DestinationHangs {
  private static final Duration PATIENCE = Duration.ofMillis(300);
  private static final String REJECTED = "rejected";
  private static final String MISSING = "missing";
  private static final String NOT_DURABLE = "not durable";
  private static final String HANGS = "hangs";

  private enum State {
    UP,
    STOPPED,
    HANGS
  }

  private Broker broker = new Broker();

  private static final class Broker {
    private final List<Received> taken = new ArrayList<>();
    private State state = State.UP;

    synchronized void become(State next) {
      state = next;
      notifyAll();
    }

    synchronized List<Received> taken() {
      return List.copyOf(taken);
    }

    synchronized boolean answers(Duration patience) throws InterruptedException {
      long end = System.nanoTime() + patience.toNanos();
      while (state == State.HANGS && end - System.nanoTime() > 1_000_000) {
        wait((end - System.nanoTime()) / 1_000_000);
      }
      return state == State.UP;
    }

    synchronized Result take(StoredMessage message) {
      for (Header header : message.message().headers()) {
        switch (header.name()) {
          case REJECTED -> {
            return Result.rejected("never");
          }
          case MISSING, NOT_DURABLE -> {
            return Result.unavailable("not now", header.name());
          }
          default -> {}
        }
      }
      taken.add(received(message));
      return Result.delivered();
    }
  }

  private record Publisher(Broker broker) implements MessagePublisher {
    @Override
    public List<Result> publish(List<StoredMessage> messages) throws InterruptedException {
      List<Result> results = new ArrayList<>();
      Map<String, Result> stopped = new HashMap<>();
      boolean down = !broker.answers(PATIENCE);
      for (StoredMessage message : messages) {
        Result result = down ? Result.unavailable("no answer") : stopped.get(message.key());
        result = result == null ? broker.take(message) : result;
        if (!(result instanceof Result.Delivered)) {
          stopped.put(message.key(), result);
        }
        results.add(result);
      }
      return results;
    }

    @Override
    public String address() {
      return "memory";
    }

    @Override
    public Optional<String> unreachable(Duration patience) throws InterruptedException {
      return broker.answers(patience) ? Optional.empty() : Optional.of("no answer");
    }
  }

  @Override
  protected MessagePublisher createPublisher() {
    Routed one = new Routed("one", new Publisher(broker), System::nanoTime);
    Routed other = new Routed("other", new Publisher(broker), System::nanoTime);
    Routed silent =
        new Routed(
            "silent",
            messages -> {
              new CountDownLatch(1).await();
              return List.of();
            },
            System::nanoTime);
    return new RoutingPublisher(
        List.of(one, other, silent),
        message -> {
          if (message.message().headers().stream().anyMatch(h -> h.name().equals(HANGS))) {
            return silent;
          }
          return message.message().id().hashCode() % 2 == 0 ? one : other;
        },
        timeout());
  }

  @Override
  protected List<Received> received() {
    return broker.taken();
  }

  @Override
  protected void reset() {
    broker = new Broker();
  }

  @Override
  public void stopBroker() {
    broker.become(State.STOPPED);
  }

  @Override
  public void killBroker() {
    broker.become(State.STOPPED);
  }

  @Override
  public void startBroker() {
    broker.become(State.UP);
  }

  @Override
  public void pauseBroker() {
    broker.become(State.HANGS);
  }

  @Override
  public void resumeBroker() {
    broker.become(State.UP);
  }

  @Override
  public OutboxMessage.Builder rejected(OutboxMessage.Builder message) {
    return message.header(REJECTED, "");
  }

  @Override
  public OutboxMessage.Builder toMissing(OutboxMessage.Builder message) {
    return message.header(MISSING, "");
  }

  @Override
  public OutboxMessage.Builder toNotDurable(OutboxMessage.Builder message) {
    return message.header(NOT_DURABLE, "");
  }

  @Override
  public OutboxMessage.Builder toHanging(OutboxMessage.Builder message) {
    return message.header(HANGS, "");
  }

  private static Received received(StoredMessage stored) {
    OutboxMessage message = stored.message();
    return Received.of(message.recordKey(), message.payload(), message.headers()).about(stored);
  }
}
