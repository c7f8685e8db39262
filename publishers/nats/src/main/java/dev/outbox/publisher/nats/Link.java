package dev.outbox.publisher.nats;

import dev.outbox.publisher.core.BackgroundTasks;
import dev.outbox.publisher.core.Reconnecting;
import io.nats.client.AuthenticationException;
import io.nats.client.Connection;
import io.nats.client.ErrorListener;
import io.nats.client.JetStream;
import io.nats.client.Nats;
import io.nats.client.Options;
import io.nats.client.api.PublishAck;
import java.io.IOException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One connection, for as long as it lasts: it never connects again by itself. The client would then
 * send what nobody waits for any more, at a time that nobody knows.
 */
final class Link implements Reconnecting.Connection {
  private static final Pattern NO_PERMISSION =
      Pattern.compile("(?i).*permissions violation for publish to \"([^\"]*)\".*");
  private static final Pattern NO_INBOX =
      Pattern.compile("(?i).*permissions violation for subscription to.*");

  private final Set<Sending> inFlight = ConcurrentHashMap.newKeySet();
  private final Connection connection;
  private final JetStream jetStream;
  private volatile @Nullable String deaf;

  private record Sending(String subject, CompletableFuture<PublishAck> ack) {}

  /** The server does not let us publish there; it says so beside the answers. */
  static final class NoPermissionException extends Exception {
    private static final long serialVersionUID = 1L;

    /** Whether that is so for all subjects. */
    final boolean everywhere;

    private NoPermissionException(String said, boolean everywhere) {
      super(said);
      this.everywhere = everywhere;
    }
  }

  /** What the client tells beside the answers of requests. */
  private static final class Ear implements ErrorListener {
    private volatile @Nullable Link link;

    /** Why the last server could not be connected to. */
    private volatile @Nullable Throwable failure;

    @Override
    public void exceptionOccurred(Connection connection, Exception error) {
      failure = error instanceof ExecutionException ? error.getCause() : error;
    }

    @Override
    public void errorOccurred(Connection connection, String error) {
      Link to = link;
      if (to != null) {
        to.heard(error);
      }
    }
  }

  private Link(Connection connection) throws IOException {
    this.connection = connection;
    this.jetStream = connection.jetStream();
  }

  /** Connects; blocks for as long as the options say. */
  static Link open(Options.Builder options) throws IOException, InterruptedException {
    Ear ear = new Ear();
    try {
      Link link = new Link(Nats.connect(options.errorListener(ear).build()));
      ear.link = link;
      return link;
    } catch (AuthenticationException e) {
      throw e;
    } catch (IOException e) { // which does not say why
      throw new IOException("%s: %s".formatted(e.getMessage(), ear.failure), e);
    }
  }

  /** Why there is none; null: it was not made in time. */
  static String problem(@Nullable Throwable error) {
    return error == null
        ? "no connection could be made in time"
        : Urls.masked(String.valueOf(error.getMessage()));
  }

  /** The most bytes of a message, with its headers. */
  long maxPayload() {
    return connection.getMaxPayload();
  }

  @Override
  public boolean isOpen() {
    return connection.getStatus() == Connection.Status.CONNECTED;
  }

  /**
   * Sends a message; completes in a thread of the client.
   *
   * @throws IllegalStateException when the connection is closed, or its queue full
   */
  CompletableFuture<PublishAck> send(Mapping.Outgoing outgoing) {
    Sending sending = new Sending(outgoing.subject(), new CompletableFuture<>());
    inFlight.add(sending);
    try {
      CompletableFuture<?> unused =
          jetStream
              .publishAsync(outgoing.subject(), outgoing.headers(), outgoing.body())
              .whenComplete((ack, error) -> complete(sending, ack, error));
    } catch (RuntimeException e) {
      inFlight.remove(sending);
      throw e;
    }
    String said = deaf;
    if (said != null) {
      complete(sending, null, new NoPermissionException(said, true));
    }
    return sending.ack;
  }

  private void complete(Sending sending, @Nullable PublishAck ack, @Nullable Throwable error) {
    inFlight.remove(sending);
    if (error != null) {
      sending.ack.completeExceptionally(error);
    } else {
      sending.ack.complete(ack);
    }
  }

  private void heard(String error) {
    Matcher publishing = NO_PERMISSION.matcher(error);
    if (publishing.matches()) {
      inFlight.stream()
          .filter(sending -> sending.subject.equals(publishing.group(1)))
          .forEach(sending -> complete(sending, null, new NoPermissionException(error, false)));
    } else if (NO_INBOX.matcher(error).matches()) {
      deaf = error;
      inFlight.forEach(sending -> complete(sending, null, new NoPermissionException(error, true)));
    }
  }

  /** Whether the server answers within this time. */
  boolean answers(Duration patience) throws InterruptedException {
    try {
      connection.flush(patience);
      return true;
    } catch (TimeoutException | IllegalStateException e) {
      return false;
    }
  }

  @Override
  public void close(long millis) {
    try {
      connection.close();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void kill() {
    BackgroundTasks.run("outbox-nats-close", () -> close(0));
  }
}
