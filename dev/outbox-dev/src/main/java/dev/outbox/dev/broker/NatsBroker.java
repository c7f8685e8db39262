package dev.outbox.dev.broker;

import dev.outbox.dev.broker.Broker.Started;
import dev.outbox.embedded.EmbeddedNats;
import dev.outbox.publisher.core.Attributes;
import dev.outbox.publisher.core.Destination;
import dev.outbox.publisher.nats.NatsPublisher;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.StoredMessage;
import io.nats.client.Connection;
import io.nats.client.JetStream;
import io.nats.client.JetStreamApiException;
import io.nats.client.Nats;
import io.nats.client.api.StorageType;
import io.nats.client.api.StreamConfiguration;
import io.nats.client.impl.Headers;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A NATS, which is only measured: with a stream of one subject, in files. */
final class NatsBroker extends Broker {
  private static final String MEASURED = "bench";

  private @Nullable Connection measuring;
  private long purged;

  NatsBroker() {
    super("NATS", null, "", List.of());
  }

  @Override
  Started launch(int proxyPort) {
    EmbeddedNats started = EmbeddedNats.start();
    return new Started(started, started.url());
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
    try {
      if (measuring != null) {
        measuring.close();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    super.close();
  }
}
