package dev.outbox.dev.torture;

import dev.outbox.OutboxException;
import dev.outbox.dev.torture.Oracle.Archived;
import dev.outbox.dev.torture.Oracle.Committed;
import dev.outbox.dev.torture.Oracle.DeadLetter;
import dev.outbox.embedded.EmbeddedServer;
import dev.outbox.spi.store.DeadLetterStore;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * The database server that is tortured, and what is in it, which is asked directly and not by way
 * of the proxy. An {@link OutboxException} means that it is away.
 */
interface Tortured extends AutoCloseable {

  EmbeddedServer server();

  int port();

  /** What {@link Places#open} needs: url, user and password, by way of the proxy. */
  Map<String, String> settings(int proxyPort);

  DeadLetterStore store();

  /** By a pool of our own. */
  Place<?> place();

  /** How many messages wait; dead letters that can be repaired count. */
  long waiting();

  /** Some of them, for people. */
  String firstWaiting();

  /** What must not be at any time, a sentence each. */
  List<String> wrong();

  /** How much is held by relays. */
  long held();

  /** How long what a killed process has held in a transaction stays so. */
  Duration longestHold();

  /** What producers have committed. */
  List<Committed> committed();

  /** Dedup keys that were refused. */
  Set<String> refused();

  List<DeadLetter> deadLetters();

  /** What was kept of messages that left the outbox; empty where nothing is. */
  Optional<Kept> kept();

  /**
   * An archive, and what it must agree with.
   *
   * @param left those that are in the outbox
   * @param audit as {@code requeue 4711}
   */
  record Kept(List<Archived> archived, List<UUID> left, List<String> audit) {}

  /** A session of somebody else; empty when the server has no more, or is away. */
  Optional<AutoCloseable> connect();

  /** A session that keeps what is removed from going; empty when there is no such thing. */
  Optional<AutoCloseable> snapshot();

  @Override
  void close();
}
