package dev.outbox.dev.bench;

import dev.outbox.embedded.EmbeddedNats;
import dev.outbox.publisher.core.Attributes;
import dev.outbox.publisher.core.Destination;
import dev.outbox.publisher.nats.NatsPublisher;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.StoredMessage;
import io.nats.client.Connection;
import io.nats.client.JetStream;
import io.nats.client.Nats;
import io.nats.client.api.StorageType;
import io.nats.client.api.StreamConfiguration;
import io.nats.client.impl.Headers;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** NATS, with a stream of one subject, in files. */
final class NatsMeasured implements Measured {
  private static final String STREAM = "bench";

  private final EmbeddedNats server = EmbeddedNats.start();
  private @Nullable Connection connection;
  private long purged;

  @Override
  public String toString() {
    return server.toString().replace("embedded ", "");
  }

  @Override
  public OptionalLong pid() {
    return OptionalLong.of(server.pid());
  }

  @Override
  public MessagePublisher publisher() {
    return NatsPublisher.builder()
        .servers(server.url())
        .destination(Destination.pattern(STREAM))
        .build();
  }

  private Connection connection() throws Exception {
    if (connection == null) {
      connection = Nats.connect(server.url());
      StreamConfiguration files =
          StreamConfiguration.builder()
              .name(STREAM)
              .subjects(STREAM)
              .storageType(StorageType.File)
              .build();
      var unused = connection.jetStreamManagement().addStream(files);
    }
    return connection;
  }

  /** Empties the stream, so that it is as long for each. */
  @Override
  public long arrived() throws Exception {
    purged += connection().jetStreamManagement().purgeStream(STREAM).getPurged();
    return purged;
  }

  @Override
  public Client client() throws Exception {
    JetStream files = connection().jetStream();
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
            files.publishAsync(STREAM, headers, message.message().payload());
        var unused = acknowledgement.whenComplete((ack, error) -> answered.accept(error == null));
      }
    };
  }

  @Override
  public void close() {
    try (server) {
      if (connection != null) {
        connection.close();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
