package dev.outbox.dev.demo;

import dev.outbox.cli.Failure;
import dev.outbox.embedded.EmbeddedNats;
import io.nats.client.Connection;
import io.nats.client.ErrorListener;
import io.nats.client.JetStreamApiException;
import io.nats.client.JetStreamSubscription;
import io.nats.client.Message;
import io.nats.client.Nats;
import io.nats.client.Options;
import io.nats.client.PushSubscribeOptions;
import io.nats.client.api.ConsumerConfiguration;
import io.nats.client.api.DeliverPolicy;
import io.nats.client.api.StreamConfiguration;
import io.nats.client.impl.Headers;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** A NATS with a stream whose subjects are the demo's. */
final class DemoNats extends EmbeddedBroker<EmbeddedNats> {
  private final String stream;

  DemoNats(String name) {
    super("NATS");
    this.stream = name;
  }

  @Override
  public void start() {
    start(
        EmbeddedNats::start,
        "the package nats-server, or name the program in the variable OUTBOX_EMBEDDED_NATS");
    try (Connection connection = connect(running().url())) {
      var unused =
          connection
              .jetStreamManagement()
              .addStream(
                  StreamConfiguration.builder().name(stream).subjects(stream + ".>").build());
    } catch (IOException | JetStreamApiException e) {
      throw new Failure("the stream could not be made: " + e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new Failure("the stream could not be made: interrupted", e);
    }
  }

  /** One that ends when the server does, and says nothing. */
  private static Connection connect(String url) throws IOException, InterruptedException {
    return Nats.connect(
        Options.builder()
            .server(url)
            .maxReconnects(0)
            .errorListener(new ErrorListener() {})
            .build());
  }

  @Override
  public String address() {
    return running().url();
  }

  @Override
  public Map<String, String> relayProperties() {
    return Map.of(
        "publisher",
        "nats",
        "nats.servers",
        address(),
        "destination",
        stream + ".{aggregateType}.{recordKey}");
  }

  @Override
  public List<String> waysToLook() {
    return List.of("nats --server %s stream view %s".formatted(address(), stream));
  }

  @Override
  public Source source() {
    return source(place());
  }

  @Override
  public Place place() {
    return new Place(address(), stream);
  }

  static Source source(Place place) {
    return new Stream(place.address(), place.name());
  }

  /** The stream, from its beginning; after an outage from where it was. */
  private static final class Stream implements Source {
    private static final Duration POLL = Duration.ofMillis(100);

    private final String url;
    private final String stream;
    private long read;
    private @Nullable Connection connection;
    private @Nullable JetStreamSubscription subscription;

    Stream(String url, String stream) {
      this.url = url;
      this.stream = stream;
    }

    @Override
    public void poll(Sink sink) throws InterruptedException {
      try {
        Message message = subscription().nextMessage(POLL);
        while (message != null) {
          read = message.metaData().streamSequence();
          Headers headers = message.hasHeaders() ? message.getHeaders() : new Headers();
          sink.received(headers.getFirst("outbox-id"), headers.getFirst("outbox-key"));
          message = subscription().nextMessage(Duration.ofNanos(1));
        }
      } catch (IOException | JetStreamApiException | IllegalStateException e) {
        close(); // the server is away
        Thread.sleep(POLL.toMillis());
      }
      sink.complete();
    }

    private JetStreamSubscription subscription()
        throws IOException, JetStreamApiException, InterruptedException {
      Connection open = connection();
      JetStreamSubscription begun = subscription;
      if (begun == null) {
        ConsumerConfiguration fromHere =
            ConsumerConfiguration.builder()
                .deliverPolicy(DeliverPolicy.ByStartSequence)
                .startSequence(read + 1)
                .build();
        begun =
            open.jetStream()
                .subscribe(
                    stream + ".>",
                    PushSubscribeOptions.builder().stream(stream)
                        .ordered(true)
                        .configuration(fromHere)
                        .build());
        subscription = begun;
      }
      return begun;
    }

    private Connection connection() throws IOException, InterruptedException {
      Connection open = connection;
      if (open == null || open.getStatus() != Connection.Status.CONNECTED) {
        close();
        open = connect(url);
        connection = open;
      }
      return open;
    }

    @Override
    public BooleanSupplier end() {
      try {
        long last =
            connection()
                .jetStreamManagement()
                .getStreamInfo(stream)
                .getStreamState()
                .getLastSequence();
        return () -> read >= last;
      } catch (IOException | JetStreamApiException e) {
        throw new Failure("the stream's end is not known: " + e.getMessage(), e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new Failure("the stream's end is not known: interrupted", e);
      }
    }

    @Override
    public void close() {
      subscription = null;
      if (connection != null) {
        try {
          connection.close();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
        connection = null;
      }
    }
  }
}
