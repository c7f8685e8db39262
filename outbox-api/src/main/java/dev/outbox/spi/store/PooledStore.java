package dev.outbox.spi.store;

import java.util.OptionalInt;

/** A store whose connections are limited. */
public interface PooledStore {

  /** How many connections can be open at once; empty when the store cannot know. */
  OptionalInt maxConnections();
}
