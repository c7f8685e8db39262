package dev.outbox.dev.demo;

import java.util.List;
import java.util.UUID;

/**
 * A consumer as anybody may write it: what it does about a message and the inbox's record of it are
 * one transaction. Nothing but the inbox keeps it from shipping the same twice.
 */
public interface ShippingService {

  /** Makes the inbox, and a place for what is shipped. */
  void create() throws Exception;

  /**
   * Ships what each message asks for, unless it was shipped before; all in one transaction. When it
   * returns the transaction is committed.
   */
  void ship(List<UUID> messages) throws Exception;

  Shipped shipped() throws Exception;

  /**
   * What was committed.
   *
   * @param messages what was shipped, once for each shipment
   * @param repeated how often a message came again, and the inbox knew it
   */
  record Shipped(List<UUID> messages, long repeated) {}
}
