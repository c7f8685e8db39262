package dev.outbox.publisher.rabbitmq;

import static java.util.Objects.requireNonNull;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ShutdownSignalException;
import dev.outbox.publisher.core.Reconnecting;
import java.io.IOException;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import org.jspecify.annotations.Nullable;

/** A connection, and what is known of the broker through it. */
final class Link implements Reconnecting.Connection {
  private final Connection connection;
  private final Socket socket;
  private final ConcurrentLinkedDeque<ConfirmChannel> idle = new ConcurrentLinkedDeque<>();
  private final Set<String> exchanges = ConcurrentHashMap.newKeySet();
  private final Set<Place> forbidden = ConcurrentHashMap.newKeySet();
  private final Object questions = new Object();
  private @Nullable Channel spare;
  private volatile @Nullable Block block;
  private volatile boolean proven;
  private volatile boolean killed;
  private volatile long heardAt = System.nanoTime();

  /** That the broker takes nothing now, as when it is short of memory. */
  record Block(String why, long since) {}

  /** The connection has as many channels as it may; they are of use to whoever has them. */
  static final class NoChannelException extends IOException {
    private static final long serialVersionUID = 1L;

    private NoChannelException(String message) {
      super(message);
    }
  }

  Link(Connection connection, Socket socket) {
    this.connection = connection;
    this.socket = socket;
    connection.addBlockedListener(
        why -> block = new Block(why, System.nanoTime()), () -> block = null);
  }

  @Override
  public boolean isOpen() {
    return !killed && connection.isOpen();
  }

  @Nullable Block block() {
    return block;
  }

  /** A channel that nobody uses. */
  ConfirmChannel lane() throws IOException {
    for (ConfirmChannel lane = idle.poll(); lane != null; lane = idle.poll()) {
      if (lane.isOpen()) {
        lane.use();
        return lane;
      }
    }
    ConfirmChannel lane = new ConfirmChannel(channel(), this::heard, this::idle);
    lane.use();
    return lane;
  }

  private Channel channel() throws IOException {
    Channel channel = connection.createChannel();
    if (channel == null) {
      throw new NoChannelException(
          "the connection to RabbitMQ has no channel left: raise its channel_max");
    }
    return channel;
  }

  private void idle(ConfirmChannel lane) {
    if (lane.hasRefused()) {
      lane.close();
    } else if (lane.isOpen()) {
      idle.addFirst(lane);
    }
  }

  /** Something came from the broker. */
  private void heard() {
    heardAt = System.nanoTime();
    proven = true;
  }

  /**
   * Whether the broker has ever answered a message on this connection. While it is short of memory
   * it lets connections in and stops reading them when something is published, so until then there
   * is no telling.
   */
  boolean isProven() {
    return proven;
  }

  /** Whether the broker answers: it was heard lately, or it does when it is asked now. */
  boolean answers(long lately) {
    if (System.nanoTime() - heardAt < lately) {
      return true;
    }
    try {
      ask();
      return true;
    } catch (IOException | RuntimeException e) {
      return false;
    }
  }

  /** Asks for something that needs no right; returns when the broker has answered. */
  void ask() throws IOException {
    synchronized (questions) {
      try {
        spare().basicQos(0);
      } catch (IOException | RuntimeException e) {
        spare = null; // its answer may still come
        throw e;
      }
    }
    heardAt = System.nanoTime();
  }

  /**
   * Whether the exchange is there; asked once, until {@link #forgetExchanges}. From 4.2.6 on
   * RabbitMQ refuses to say it to a user without a right to the exchange (4.2.6 and 4.3.0: without
   * the right to configure it). Then the answer is yes, and a publish shows what is wrong.
   */
  boolean hasExchange(String name) throws IOException {
    if (name.isEmpty() || exchanges.contains(name)) {
      return true;
    }
    synchronized (questions) {
      try {
        var unused = spare().exchangeDeclarePassive(name);
      } catch (IOException e) {
        spare = null;
        int code = replyCode(e.getCause());
        if (code == AMQP.NOT_FOUND) {
          return false;
        }
        if (code != AMQP.ACCESS_REFUSED) {
          throw e;
        }
      }
    }
    exchanges.add(name);
    return true;
  }

  void forgetExchanges() {
    exchanges.clear();
  }

  /** For questions, whose answers may close it; with the monitor of them. */
  private Channel spare() throws IOException {
    if (spare == null || !spare.isOpen()) {
      spare = channel();
    }
    return requireNonNull(spare);
  }

  /** Whether the broker did not let us publish there; another try would close the channel. */
  boolean isForbidden(Place to) {
    return forbidden.contains(to) || forbidden.contains(to.wholeExchange());
  }

  void forbidden(Place to) {
    forbidden.add(to);
  }

  void allowed(Place to) {
    forbidden.remove(to);
    forbidden.remove(to.wholeExchange());
  }

  /** Why it was closed, without anything secret. */
  String closeReason() {
    return text(connection.getCloseReason());
  }

  @Override
  public void close(long millis) {
    connection.abort((int) millis);
    kill();
  }

  /**
   * Ends it at once, whatever hangs in it: only closing its socket ends a write into it. What lies
   * in the socket's buffer is dropped, so that little of it arrives late.
   */
  @Override
  public void kill() {
    killed = true;
    try {
      socket.setSoLinger(true, 0); // without this, TLS waits for the write that hangs
    } catch (IOException e) {
      // closed already
    }
    try {
      socket.close();
    } catch (IOException e) {
      // it is of no use any more
    }
  }

  /** The broker's code for closing a channel or connection; 0 when the broker did not. */
  static int replyCode(@Nullable Throwable error) {
    if (!(error instanceof ShutdownSignalException signal)) {
      return 0;
    }
    if (signal.getReason() instanceof AMQP.Channel.Close close) {
      return close.getReplyCode();
    }
    return signal.getReason() instanceof AMQP.Connection.Close close ? close.getReplyCode() : 0;
  }

  /** What the broker said, or else why the connection broke. */
  static String text(@Nullable Throwable error) {
    if (error instanceof ShutdownSignalException signal) {
      if (signal.getReason() instanceof AMQP.Channel.Close close) {
        return close.getReplyText();
      }
      if (signal.getReason() instanceof AMQP.Connection.Close close) {
        return close.getReplyText();
      }
    }
    if (error != null && error.getCause() != null && error.getCause() != error) {
      return text(error.getCause());
    }
    return error == null
        ? "no reason was given"
        : error.getClass().getSimpleName() + ": " + error.getMessage();
  }
}
