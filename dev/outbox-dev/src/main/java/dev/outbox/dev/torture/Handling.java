package dev.outbox.dev.torture;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.outbox.TransientOutboxException;
import dev.outbox.dev.broker.Source;
import dev.outbox.dev.database.Place;
import dev.outbox.inbox.Begin;
import dev.outbox.inbox.Fingerprint;
import dev.outbox.inbox.Inbox;
import dev.outbox.inbox.InboxKey;
import dev.outbox.inbox.InboxResult;
import dev.outbox.spi.store.InboxStore;
import java.time.Duration;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * A process that is one of a group of consumers, until it is told to end or killed. It handles the
 * messages that it gets on threads of their own: by an inbox, in one of three ways, which the
 * message's id decides. Some messages are handled by two threads at once.
 *
 * <p>It writes down, for the oracle:
 *
 * <ul>
 *   <li>"got PARTITION OFFSET ID KEY";
 *   <li>"handled WAY ID": the transaction with the effect was committed;
 *   <li>"repeated WAY ID": the inbox said that it had been;
 *   <li>"locked NUMBER WAY ID ASKED MILLIS", "renewed-lock NUMBER ASKED MILLIS", "unlocks NUMBER":
 *       a lock was had, was prolonged, is about to be completed or released;
 *   <li>"completed ID RESULT ASKED": it was; "given ID RESULT ASKED": the inbox knew the result;
 *   <li>"failed WAY ID ERROR": for a reason that does not pass.
 * </ul>
 *
 * @param <T> a transaction of the database
 */
final class Handling<T> implements AutoCloseable {
  /** How a message is handled. */
  enum Way {
    /** Recorded in the transaction of the effect. */
    RECORDED,
    /** Locked; completed in the transaction of the effect. */
    LOCKED,
    /** Locked; completed with a result, which is forgotten soon. */
    RESULT;

    static Way of(UUID message) {
      return values()[Math.floorMod(message.hashCode(), values().length)];
    }
  }

  /** Of {@link Way#RESULT}. */
  static final Duration RETENTION = Duration.ofSeconds(3);

  private static final int THREADS = 2;

  /** Before it asks a broker again that has refused it. */
  private static final long AGAIN_NANOS = Duration.ofMillis(100).toNanos();

  /** What does not fit is not handled: its offset is committed anyway. */
  private static final int MOST_WAITING = 500;

  private static final int TRIES = 5;
  static final int LOCK_MILLIS = 1_500;
  private static final int WORK_MILLIS = 20;
  private static final double AT_ONCE = 0.2;
  private static final double SLOW = 0.04;
  private static final double RENEWS = 0.2;
  private static final double FAILS = 0.1;
  private static final double PURGES = 0.02;

  private final Child child;
  private final Place<T> place;
  private final InboxStore<T> remembering;
  private final InboxStore<T> forgetful;
  private final ExecutorService workers =
      new ThreadPoolExecutor(
          THREADS,
          THREADS,
          0,
          TimeUnit.SECONDS,
          new ArrayBlockingQueue<>(MOST_WAITING),
          new ThreadPoolExecutor.DiscardPolicy());
  private final AtomicLong numbers = new AtomicLong();
  private final Random random;
  private volatile boolean consuming = true;

  private Handling(Child child, Place<T> place) {
    this.child = child;
    this.place = place;
    remembering = place.inbox(null);
    forgetful = place.inbox(RETENTION);
    random = new Random(child.seed());
  }

  public static void main(String[] args) throws Exception {
    try (Child child = new Child();
        Handling<?> handling = new Handling<>(child, child.place(THREADS))) {
      Thread thread = new Thread(handling::consume, "consumer");
      thread.start();
      child.parent.say(Child.STARTED);
      while (!child.parent.command().equals(Child.END)) {}
      handling.consuming = false;
      thread.join();
    }
  }

  private void consume() {
    while (consuming) {
      try (Source source = child.broker().source(Source.Reading.TOGETHER)) {
        while (consuming) {
          source.poll(this::got);
        }
      } catch (RuntimeException e) {
        System.err.println("once more, after " + e);
        LockSupport.parkNanos(AGAIN_NANOS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }

  private void write(String what, Object... details) {
    child.journal.write(what, details);
  }

  private void got(Source.Received message) {
    write("got", message.partition(), message.offset(), message.id(), message.key());
    int times = random.nextDouble() < AT_ONCE ? 2 : 1;
    for (int i = 0; i < times; i++) {
      workers.execute(() -> handle(message.id()));
    }
  }

  /** Returns when all that waits is handled. */
  @Override
  public void close() throws InterruptedException {
    workers.shutdown();
    boolean unused = workers.awaitTermination(Long.MAX_VALUE, TimeUnit.NANOSECONDS);
    place.close();
  }

  /** What fails again and again is given up, as by a consumer that crashes. */
  private void handle(UUID message) {
    for (int i = 0; i < TRIES; i++) {
      try {
        if (random.nextDouble() < PURGES) {
          forgetful.housekeep();
        }
        switch (Way.of(message)) {
          case RECORDED -> record(message);
          case LOCKED -> lock(remembering, Way.LOCKED, message);
          case RESULT -> lock(forgetful, Way.RESULT, message);
        }
        return;
      } catch (Inbox.InProgressException e) {
        Child.pause(Math.min(e.left().toMillis(), LOCK_MILLIS));
      } catch (TransientOutboxException e) {
        Child.pause(WORK_MILLIS);
      } catch (RuntimeException e) {
        e.printStackTrace();
        String error = String.valueOf(e).replaceAll("\\s+", "_");
        write("failed", Way.of(message), message, error);
        return;
      }
    }
  }

  private void record(UUID message) {
    boolean first =
        place.run(
            transaction -> {
              boolean isFirst = remembering.firstTime(transaction, key(Way.RECORDED, message));
              if (isFirst) {
                place.effect(transaction, Way.RECORDED, message);
              }
              return isFirst;
            });
    write(first ? "handled" : "repeated", Way.RECORDED, message);
  }

  private void lock(Inbox<T> inbox, Way way, UUID message) {
    Duration time = Duration.ofMillis(1 + random.nextInt(LOCK_MILLIS));
    long asked = System.nanoTime();
    Begin<T> begin = inbox.begin(key(way, message), time, fingerprint(message));
    if (begin instanceof Begin.Started<T> started) {
      long number = numbers.incrementAndGet();
      write("locked", number, way, message, asked, time.toMillis());
      work(number, started.lock(), time);
      complete(way, message, number, started.lock());
    } else if (begin instanceof Begin.Done<T> done) {
      write("repeated", way, message);
      if (way == Way.RESULT) {
        write("given", message, text(done.result()), asked);
      }
    } else if (begin instanceof Begin.InProgress<T> other) {
      throw new Inbox.InProgressException(key(way, message), other.left());
    } else {
      write("mismatch", way, message);
    }
  }

  /** Now and then for longer than the lock lasts. */
  private void work(long number, Begin.Lock<T> lock, Duration time) {
    if (random.nextDouble() < RENEWS) {
      long asked = System.nanoTime();
      if (lock.renew(time)) {
        write("renewed-lock", number, asked, time.toMillis());
      }
    }
    Child.pause(random.nextDouble() < SLOW ? time.toMillis() * 5 / 4 : random.nextInt(WORK_MILLIS));
  }

  private void complete(Way way, UUID message, long number, Begin.Lock<T> lock) {
    write("unlocks", number);
    if (random.nextDouble() < FAILS) {
      boolean ignored = lock.release("by chance");
    } else if (way == Way.LOCKED) {
      boolean completed =
          place.run(
              transaction -> {
                place.effect(transaction, way, message);
                return lock.complete(transaction, InboxResult.none());
              });
      if (completed) {
        write("handled", way, message);
      }
    } else {
      InboxResult result = InboxResult.of((child.name() + "/" + number).getBytes(UTF_8), null);
      long asked = System.nanoTime();
      if (lock.complete(result)) {
        write("completed", message, text(result), asked);
      }
    }
  }

  static InboxKey key(Way way, UUID message) {
    return new InboxKey(way.name(), message.toString());
  }

  static Fingerprint fingerprint(UUID message) {
    return Fingerprint.of(message.toString().getBytes(UTF_8));
  }

  private static String text(InboxResult result) {
    return new String(result.content(), UTF_8);
  }
}
