package dev.outbox.spi.publisher;

import java.time.Duration;
import java.util.Map;
import java.util.Set;

/**
 * Opens a publisher from properties, for programs that run a relay. They find it by {@link
 * java.util.ServiceLoader}: its class is named in {@code
 * META-INF/services/dev.outbox.spi.publisher.PublisherProvider} of the publisher's jar.
 */
public interface PublisherProvider {

  /**
   * The publisher's name in the property {@code publisher}: {@code kafka}. Properties that begin
   * with it and a dot are settings of the broker's client.
   */
  String name();

  /**
   * The names of the properties that it reads. A name that ends in a dot stands for all that begin
   * with it. Programs refuse other properties.
   */
  Set<String> properties();

  /**
   * Makes a publisher. The broker need not be there yet.
   *
   * @param properties those of {@link #properties} that are given
   * @param timeout how long one call of {@link MessagePublisher#publish} may take
   * @throws IllegalArgumentException naming the setting, its value and what to do, without secrets
   */
  MessagePublisher open(Map<String, String> properties, Duration timeout);
}
