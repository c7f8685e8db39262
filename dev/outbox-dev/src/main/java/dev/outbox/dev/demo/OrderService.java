package dev.outbox.dev.demo;

import dev.outbox.OutboxMessage;
import java.util.List;
import java.util.function.LongFunction;

/**
 * A service as anybody may write it: it changes an order and says so, or does neither. The order is
 * changed before the append, and nobody else can change it before the commit, so that the messages
 * of one order are appended one transaction after the other; that is what makes their order mean
 * something (O5).
 */
public interface OrderService {

  /** Makes a place for the orders, and so many of them. */
  void create(int orders) throws Exception;

  /**
   * Adds something to an order.
   *
   * @param card whether the customer can pay
   * @param messages what to tell others about the order's new version; asked again when the
   *     transaction has to begin anew
   */
  void add(String order, int amount, boolean card, LongFunction<List<OutboxMessage>> messages)
      throws Exception;

  /** The customer cannot pay: nothing has happened. */
  final class CardDeclined extends Exception {
    private static final long serialVersionUID = 1L;

    CardDeclined(String order) {
      super("the card for " + order + " was declined");
    }
  }
}
