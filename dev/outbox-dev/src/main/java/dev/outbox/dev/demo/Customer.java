package dev.outbox.dev.demo;

import dev.outbox.OutboxMessage;
import dev.outbox.TransientOutboxException;
import dev.outbox.dev.common.Load;
import dev.outbox.dev.database.Place;
import dev.outbox.dev.database.Place.Business;
import dev.outbox.dev.database.Work;
import dev.outbox.dev.database.Work.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

/**
 * Orders at random, and writes down what was committed. Each locks its order before it appends, so
 * that the messages of one order are appended one transaction after the other; that is what makes
 * their order mean something (O5).
 */
final class Customer implements Load.Client {
  /** In percent. */
  private static final int DECLINED = 5;

  /** One after the other: databases that do not wait for locks let one of two begin anew. */
  private static final int MOST_CONFLICTS = 100;

  private static final long CONFLICT_NANOS = 5_000_000;

  private static final int DELAYED = 2;
  private static final int REPEATED = 3;

  /** A transaction has fewer messages. */
  private static final int PLACES = 100;

  private final int number;
  private final Place<?> place;
  private final Account account;
  private final int orders;
  private final SplittableRandom random;
  private final List<String> dedupKeys = new ArrayList<>();
  private int conflicts;

  Customer(int number, Place<?> place, Account account, Demo.Settings settings) {
    this.number = number;
    this.place = place;
    this.account = account;
    orders = settings.orders();
    random = new SplittableRandom(settings.seed() * 1_000_003 + number);
  }

  @Override
  public void transaction() {
    while (!commit()) {
      // the card was declined, or the order is somebody else's at the moment: once more
    }
  }

  /** Returns false when it was rolled back. */
  private boolean commit() {
    // Squared: some orders are much busier than others.
    double where = random.nextDouble();
    int order = (int) (orders * where * where);
    boolean paid = random.nextInt(100) >= DECLINED;
    int version = 0;
    List<OutboxMessage> messages = List.of();
    try (Business<?> business = place.begin()) {
      version = business.lock(Place.key(order)) + 1;
      messages = messages(order, version);
      Set<UUID> unused = business.append(messages);
      business.last(Place.key(order), version);
      if (paid) {
        business.commit();
      }
      conflicts = 0;
    } catch (TransientOutboxException e) {
      paid = false;
      if (++conflicts > MOST_CONFLICTS) {
        throw e;
      }
      LockSupport.parkNanos(CONFLICT_NANOS);
    }
    if (paid) {
      account.committed(stored(messages, version), System.nanoTime());
    } else {
      account.rolledBack();
    }
    return paid;
  }

  /** Without those whose dedup keys were committed before: they must not be stored. */
  private List<Work> stored(List<OutboxMessage> messages, int version) {
    List<Work> works = new ArrayList<>();
    for (OutboxMessage message : messages) {
      String dedup = message.dedupKey();
      if (dedup == null || !dedupKeys.contains(dedup)) {
        int nth = version * PLACES + works.size();
        Kind kind = message.deliverAfter() == null ? Kind.PLAIN : Kind.DELAYED;
        works.add(new Work(message.id(), message.recordKey(), nth, kind));
        if (dedup != null) {
          dedupKeys.add(dedup);
        }
      }
    }
    return works;
  }

  private List<OutboxMessage> messages(int order, int version) {
    int count = 1 + (random.nextInt(4) == 0 ? random.nextInt(1, 4) : 0);
    return IntStream.range(0, count).mapToObj(i -> message(order, version, i)).toList();
  }

  private OutboxMessage message(int order, int version, int index) {
    boolean ofOrder = index == 0 || random.nextBoolean();
    String type = ofOrder ? Demo.ORDER : Demo.SHIPMENT;
    UUID id = new UUID(random.nextLong(), random.nextLong());
    OutboxMessage.Builder message =
        OutboxMessage.builder()
            .id(id)
            .aggregate(type, type + "-" + order)
            .eventType(index == 0 ? "ItemAdded" : "ItemReserved")
            .payload(
                "{\"order\":%s,\"version\":%s,\"item\":\"%s\"}"
                    .formatted(order, version, Long.toHexString(random.nextLong())))
            .header("tenant", "demo")
            .correlationId("purchase-" + order + "-" + version);
    int dice = random.nextInt(100);
    boolean delayed = dice < DELAYED;
    boolean repeated = dice >= 100 - REPEATED && !dedupKeys.isEmpty();
    if (delayed) {
      message.deliverAfter(Duration.ofMillis(random.nextInt(100, 3_000)));
    } else if (repeated) {
      message.dedupKey(dedupKeys.get(random.nextInt(dedupKeys.size())));
    } else if (dice % 10 == 0) {
      message.dedupKey("purchase-%s-%s".formatted(number, id));
    }
    return message.build();
  }
}
