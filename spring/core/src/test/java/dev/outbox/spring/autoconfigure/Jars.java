package dev.outbox.spring.autoconfigure;

import dev.outbox.publisher.handler.HandlerPublisher;
import dev.outbox.publisher.http.HttpPublisherProvider;
import dev.outbox.publisher.kafka.KafkaPublisher;
import dev.outbox.publisher.nats.NatsPublisherProvider;
import dev.outbox.publisher.rabbitmq.RabbitPublisher;
import java.util.HashSet;
import java.util.Set;
import org.springframework.boot.test.context.FilteredClassLoader;

/** What an application has of our publishers, each known by a class. */
final class Jars {
  private static final Set<Class<?>> PUBLISHERS =
      Set.of(
          HandlerPublisher.class,
          HttpPublisherProvider.class,
          KafkaPublisher.class,
          NatsPublisherProvider.class,
          RabbitPublisher.class);

  private Jars() {}

  /** These publishers and no others. */
  static FilteredClassLoader of(Class<?>... publishers) {
    return without(Set.of(), publishers);
  }

  /** As {@link #of}, and without these classes. */
  static FilteredClassLoader without(Set<Class<?>> more, Class<?>... publishers) {
    Set<Class<?>> missing = new HashSet<>(PUBLISHERS);
    missing.removeAll(Set.of(publishers));
    missing.addAll(more);
    return new FilteredClassLoader(missing.toArray(Class<?>[]::new));
  }
}
