package dev.outbox.dev.broker;

import dev.outbox.dev.broker.Broker.Started;
import dev.outbox.dev.broker.Source.Reading;
import dev.outbox.dev.broker.Source.Received;
import dev.outbox.dev.broker.Source.Sink;
import dev.outbox.embedded.EmbeddedNats;
import dev.outbox.publisher.core.Attributes;
import dev.outbox.publisher.core.Destination;
import dev.outbox.publisher.nats.NatsPublisher;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.StoredMessage;
import io.nats.client.Connection;
import io.nats.client.ErrorListener;
import io.nats.client.JetStream;
import io.nats.client.JetStreamApiException;
import io.nats.client.JetStreamSubscription;
import io.nats.client.Message;
import io.nats.client.Nats;
import io.nats.client.Options;
import io.nats.client.PushSubscribeOptions;
import io.nats.client.api.ConsumerConfiguration;
import io.nats.client.api.DeliverPolicy;
import io.nats.client.api.StorageType;
import io.nats.client.api.StreamConfiguration;
import io.nats.client.impl.Headers;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A NATS with a stream, whose subjects are a type and a key each. What is measured goes to another
 * stream, of one subject, in files.
 */
final class NatsBroker extends Broker {
  private static final String MEASURED = "bench";

  private final String stream;
  private @Nullable Connection measuring;
  private long purged;

  NatsBroker(@Nullable String address, String name, List<String> types) {
    super("NATS", address, name, types);
    stream = name;
  }

  @Override
  Started launch(int proxyPort) {
    EmbeddedNats started = EmbeddedNats.start();
    return new Started(started, started.url());
  }

  @Override
  public String needs() {
    return "the package nats-server, or name the program in the variable OUTBOX_EMBEDDED_NATS";
  }

  /** One that ends when the server does, and says nothing. */
  private Connection connect() throws IOException, InterruptedException {
    return Nats.connect(
        Options.builder()
            .server(address())
            .maxReconnects(0)
            .errorListener(new ErrorListener() {})
            .build());
  }

  @Override
  public void createTopics() {
    var unused =
        tried(
            "the stream could not be made",
            () -> {
              try (Connection connection = connect()) {
                return connection
                    .jetStreamManagement()
                    .addStream(
                        StreamConfiguration.builder().name(stream).subjects(stream + ".>").build());
              }
            });
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
  public MessagePublisher measured() {
    return NatsPublisher.builder()
        .servers(address())
        .destination(Destination.pattern(MEASURED))
        .build();
  }

  private Connection measuring() throws IOException, InterruptedException, JetStreamApiException {
    if (measuring == null) {
      measuring = Nats.connect(address());
      StreamConfiguration files =
          StreamConfiguration.builder()
              .name(MEASURED)
              .subjects(MEASURED)
              .storageType(StorageType.File)
              .build();
      var unused = measuring.jetStreamManagement().addStream(files);
    }
    return measuring;
  }

  /** Empties the stream, so that it is as long for each. */
  @Override
  public long arrived() throws Exception {
    purged += measuring().jetStreamManagement().purgeStream(MEASURED).getPurged();
    return purged;
  }

  @Override
  public Client client() throws Exception {
    JetStream files = measuring().jetStream();
    return new Client() {
      /** A client that waits for more is refused by its own limit. */
      @Override
      public int mostAtOnce() {
        return 1_000;
      }

      @Override
      public void send(StoredMessage message, Consumer<Boolean> answered) {
        Headers headers = new Headers();
        headers.put("Nats-Msg-Id", message.message().id().toString());
        headers.put("outbox-key", message.message().recordKey());
        Attributes.forEach(message, headers::put);
        CompletableFuture<?> acknowledgement =
            files.publishAsync(MEASURED, headers, message.message().payload());
        var unused = acknowledgement.whenComplete((ack, error) -> answered.accept(error == null));
      }
    };
  }

  @Override
  public void close() {
    close(measuring);
    super.close();
  }

  private static void close(@Nullable Connection connection) {
    if (connection != null) {
      try {
        connection.close();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  @Override
  public Source source(Reading reading) {
    return new Stream();
  }

  /** The stream, from its beginning; after an outage from where it was. */
  private final class Stream implements Source {
    private static final Duration POLL = Duration.ofMillis(100);

    private long read;
    private @Nullable Connection connection;
    private @Nullable JetStreamSubscription subscription;

    @Override
    public void poll(Sink sink) throws InterruptedException {
      try {
        Message message = subscription().nextMessage(POLL);
        while (message != null) {
          read = message.metaData().streamSequence();
          Headers headers = message.hasHeaders() ? message.getHeaders() : new Headers();
          sink.received(
              new Received(
                  stream,
                  read,
                  Received.id(headers.getFirst("outbox-id")),
                  Received.key(headers.getFirst("outbox-key")),
                  message.getData()));
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
        open = connect();
        connection = open;
      }
      return open;
    }

    @Override
    public BooleanSupplier end() {
      return tried(
          "the stream's end is not known",
          () -> {
            long last =
                connection()
                    .jetStreamManagement()
                    .getStreamInfo(stream)
                    .getStreamState()
                    .getLastSequence();
            return () -> read >= last;
          });
    }

    @Override
    public void close() {
      NatsBroker.close(connection);
      subscription = null;
      connection = null;
    }
  }
}
