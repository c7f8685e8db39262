import dev.outbox.OutboxMessage;
import dev.outbox.relay.Relay;
import dev.outbox.spi.publisher.Result;
import dev.outbox.store.postgres.PostgresOutboxStore;
import java.sql.Connection;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.postgresql.ds.PGSimpleDataSource;

/** Appends, relays, and fails when the message does not arrive. */
public class Consumer {
  public static void main(String[] arguments) throws Exception {
    PGSimpleDataSource dataSource = new PGSimpleDataSource();
    dataSource.setUrl(System.getenv("SPRING_DATASOURCE_URL"));
    dataSource.setUser(System.getenv("SPRING_DATASOURCE_USERNAME"));
    dataSource.setPassword(System.getenv("SPRING_DATASOURCE_PASSWORD"));
    PostgresOutboxStore outbox = PostgresOutboxStore.of(dataSource);
    outbox.migrate();

    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(false);
      outbox.append(
          connection,
          OutboxMessage.builder()
              .aggregate("order", "order-1")
              .eventType("OrderPlaced")
              .payload("{\"from\": \"Java\"}")
              .build());
      connection.commit();
    }

    CompletableFuture<String> published = new CompletableFuture<>();
    try (Relay relay =
        Relay.builder(
                outbox,
                messages -> {
                  published.complete(messages.get(0).message().payloadAsString());
                  return messages.stream().map(message -> Result.delivered()).toList();
                })
            .build()) {
      relay.start();
      if (!published.get(1, TimeUnit.MINUTES).equals("{\"from\": \"Java\"}")) {
        throw new IllegalStateException("published is " + published.get());
      }
    }
  }
}
