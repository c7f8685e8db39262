package consumer;

import dev.outbox.JoinedOutbox;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Appends in Spring's transaction, relays, and fails when the message does not arrive. */
@SpringBootApplication
public class Consumer {
  private final CompletableFuture<String> published = new CompletableFuture<>();

  @Bean
  MessagePublisher publisher() {
    return messages -> {
      published.complete(messages.get(0).message().payloadAsString());
      return messages.stream().map(message -> Result.delivered()).toList();
    };
  }

  public static void main(String[] arguments) throws Exception {
    try (ConfigurableApplicationContext context =
        SpringApplication.run(Consumer.class, "--outbox.schema-mode=migrate")) {
      String payload = "{\"from\": \"Boot %s\"}".formatted(SpringBootVersion.getVersion());
      new TransactionTemplate(context.getBean(PlatformTransactionManager.class))
          .executeWithoutResult(
              status ->
                  context
                      .getBean(JoinedOutbox.class)
                      .append(
                          OutboxMessage.builder()
                              .aggregate("order", "order-1")
                              .eventType("OrderPlaced")
                              .payload(payload)
                              .build()));
      String got = context.getBean(Consumer.class).published.get(1, TimeUnit.MINUTES);
      if (!got.equals(payload)) {
        throw new IllegalStateException("published is " + got);
      }
    }
  }
}
