package dev.outbox.publisher.rabbitmq;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.ConfirmListener;
import com.rabbitmq.client.ReturnListener;
import com.rabbitmq.client.ShutdownSignalException;
import dev.outbox.publisher.core.BackgroundTasks;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A channel that confirms what is published on it. One call at a time uses it; what the broker says
 * comes in the thread that reads the connection.
 */
final class ConfirmChannel implements ConfirmListener, ReturnListener {
  private final Channel channel;
  private final Runnable heard;
  private final Consumer<ConfirmChannel> idle;

  /** By delivery tag, which the broker counts up. */
  private final TreeMap<Long, Sent> unconfirmed = new TreeMap<>();

  /** The last delivery tag. The client's own count is wrong once it refused a message. */
  private long last;

  /** The tag of the last one that came back. The next one is behind it: they come in order. */
  private long lastReturned;

  private boolean inUse;

  /**
   * Whether the broker has refused a message on it. Its next channel may know better: one that was
   * opened while a quorum queue's leader was lost may refuse for as long as that node is away.
   */
  private volatile boolean hasRefused;

  /**
   * @param heard is called when the broker says something
   * @param idle is given this when the next call may use it
   */
  ConfirmChannel(Channel channel, Runnable heard, Consumer<ConfirmChannel> idle)
      throws IOException {
    this.channel = channel;
    this.heard = heard;
    this.idle = idle;
    channel.addConfirmListener(this);
    channel.addReturnListener(this);
    channel.addShutdownListener(cause -> lost());
    var unused = channel.confirmSelect();
  }

  /** A call takes it. */
  void use() {
    synchronized (unconfirmed) {
      inUse = true;
    }
  }

  boolean isOpen() {
    return channel.isOpen();
  }

  boolean hasRefused() {
    return hasRefused;
  }

  /** In the background. */
  void close() {
    BackgroundTasks.run("outbox-rabbitmq-close", this::abort);
  }

  private void abort() {
    try {
      channel.abort();
    } catch (IOException e) {
      // it is of no use any more
    }
  }

  @Nullable ShutdownSignalException closeReason() {
    return channel.getCloseReason();
  }

  /**
   * Publishes a message.
   *
   * @throws IllegalArgumentException when the client refuses it; nothing was sent then
   * @throws IOException when the connection is broken; the message may have been sent
   */
  void send(Sent sent, Mapping.Outgoing outgoing) throws IOException {
    long tag = last + 1;
    synchronized (unconfirmed) {
      unconfirmed.put(tag, sent);
    }
    try {
      channel.basicPublish(
          outgoing.place().exchange(),
          String.valueOf(outgoing.place().routingKey()),
          true,
          outgoing.properties(),
          outgoing.body());
      last = tag;
      sent.item.tag = tag;
    } catch (IllegalArgumentException e) {
      synchronized (unconfirmed) {
        unconfirmed.remove(tag);
      }
      throw e;
    }
  }

  /** The call is done with it: it is used again when nothing is on its way any more. */
  void release() {
    boolean clean;
    synchronized (unconfirmed) {
      inUse = false;
      clean = unconfirmed.isEmpty();
    }
    if (clean) {
      idle.accept(this);
    }
  }

  /** Comes before the confirm of the same message. */
  @Override
  public void handleReturn(
      int code,
      String text,
      String exchange,
      String routingKey,
      AMQP.BasicProperties properties,
      byte[] body) {
    heard.run();
    UUID id = UUID.fromString(properties.getMessageId());
    String why = "no queue takes it: %s %s".formatted(code, text);
    synchronized (unconfirmed) {
      if (!returned(unconfirmed.tailMap(lastReturned, false), id, why)) {
        boolean unused = returned(unconfirmed, id, why);
      }
    }
  }

  private boolean returned(Map<Long, Sent> among, UUID id, String why) {
    for (Map.Entry<Long, Sent> one : among.entrySet()) {
      Sent sent = one.getValue();
      if (sent.item.message().message().id().equals(id)) {
        sent.returned(why);
        lastReturned = one.getKey();
        return true;
      }
    }
    return false;
  }

  @Override
  public void handleAck(long tag, boolean multiple) {
    ended(tag, multiple, true);
  }

  @Override
  public void handleNack(long tag, boolean multiple) {
    hasRefused = true;
    ended(tag, multiple, false);
  }

  private void ended(long tag, boolean multiple, boolean confirmed) {
    heard.run();
    List<Sent> ended = new ArrayList<>();
    boolean clean;
    synchronized (unconfirmed) {
      if (multiple) {
        var upTo = unconfirmed.headMap(tag, true);
        ended.addAll(upTo.values());
        upTo.clear();
      } else {
        Sent one = unconfirmed.remove(tag);
        if (one != null) {
          ended.add(one);
        }
      }
      clean = !inUse && !ended.isEmpty() && unconfirmed.isEmpty();
    }
    ended.forEach(confirmed ? Sent::confirmed : Sent::refused);
    if (clean) {
      idle.accept(this);
    }
  }

  /** Whatever is on its way: nobody will say what became of it. */
  void lost() {
    List<Sent> lost;
    synchronized (unconfirmed) {
      lost = List.copyOf(unconfirmed.values());
      unconfirmed.clear();
    }
    lost.forEach(Sent::lost);
  }
}
