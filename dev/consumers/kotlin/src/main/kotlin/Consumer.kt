import dev.outbox.OutboxMessage
import dev.outbox.relay.Relay
import dev.outbox.spi.publisher.Result
import dev.outbox.store.postgres.PostgresOutboxStore
import java.util.concurrent.CompletableFuture
import java.util.concurrent.TimeUnit
import org.postgresql.ds.PGSimpleDataSource

/** Appends, relays, and fails when the message does not arrive. */
object Consumer {
  @JvmStatic
  fun main(arguments: Array<String>) {
    val dataSource =
        PGSimpleDataSource().apply {
          setUrl(System.getenv("SPRING_DATASOURCE_URL"))
          user = System.getenv("SPRING_DATASOURCE_USERNAME")
          password = System.getenv("SPRING_DATASOURCE_PASSWORD")
        }
    val outbox = PostgresOutboxStore.of(dataSource)
    outbox.migrate()

    dataSource.connection.use { connection ->
      connection.autoCommit = false
      outbox.append(
          connection,
          OutboxMessage.builder()
              .aggregate("order", "order-1")
              .eventType("OrderPlaced")
              .payload("""{"from": "Kotlin"}""")
              .build())
      connection.commit()
    }

    val published = CompletableFuture<String>()
    Relay.builder(outbox) { messages ->
          published.complete(messages.first().message().payloadAsString())
          messages.map { Result.delivered() }
        }
        .build()
        .use { relay ->
          relay.start()
          check(published.get(1, TimeUnit.MINUTES) == """{"from": "Kotlin"}""")
        }
  }
}
