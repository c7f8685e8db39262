package dev.outbox.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.InvalidMessageException;
import dev.outbox.NoTransactionException;
import dev.outbox.payload.OutboxEvent;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ApplicationEvent;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.event.EventListener;

/** Application events that are marked go to the outbox. */
@ExtendWith(Servers.Resolver.class)
class ApplicationEventsTest {
  @OutboxEvent(aggregate = "order", key = "id")
  sealed interface OrderEvent {}

  record Placed(String id) implements OrderEvent {}

  record Confirmed(String id) implements OrderEvent {}

  record Seen(String id) {}

  @OutboxEvent(aggregate = "order", key = "nothing")
  record Wrong(String id) {}

  @OutboxEvent(aggregate = "order", key = "id")
  static final class Old extends ApplicationEvent {
    private static final long serialVersionUID = 1L;

    Old() {
      super("its source");
    }

    public String getId() {
      return "1";
    }
  }

  /** Answers an event by another one. */
  static class Confirming {
    private final ApplicationEventPublisher events;

    Confirming(ApplicationEventPublisher events) {
      this.events = events;
    }

    @EventListener
    void on(Placed placed) {
      events.publishEvent(new Confirmed(placed.id()));
    }
  }

  @SpringBootConfiguration
  @EnableAutoConfiguration
  static class App {
    @Bean
    Confirming confirming(ApplicationEventPublisher events) {
      return new Confirming(events);
    }
  }

  @AutoClose private static Application app;

  @BeforeAll
  static void start(Servers servers) throws Exception {
    app =
        Application.start(
            servers.schema(),
            List.of(App.class),
            Application.WITHOUT_JPA,
            "--outbox.append.application-events=true",
            "--outbox.relay.enabled=false");
  }

  @BeforeEach
  void forget() {
    app.jdbc().update("delete from outbox_message");
  }

  private static void publishInTransaction(Object event, Runnable then) {
    Application.commit(
        app.transaction(),
        () -> {
          app.context().publishEvent(event);
          then.run();
        });
  }

  private static List<String> messages() {
    return app.jdbc()
        .queryForList(
            "select aggregate_type || '/' || aggregate_id || ' ' || event_type from outbox_message"
                + " order by seq",
            String.class);
  }

  @Test
  void areAppendedInTheirOrderBeforeWhatAnswersThem() {
    publishInTransaction(new Placed("1"), () -> assertThat(messages()).hasSize(2));
    assertThat(messages()).containsExactly("order/1 Placed", "order/1 Confirmed");
  }

  @Test
  void shareTheFateOfTheTransaction() {
    assertThatThrownBy(
            () ->
                publishInTransaction(
                    new Placed("1"),
                    () -> {
                      throw new IllegalStateException("out of stock");
                    }))
        .hasMessage("out of stock");
    assertThatThrownBy(() -> publishInTransaction(new Wrong("1"), () -> {}))
        .hasMessageContaining("nothing");
    assertThat(messages()).isEmpty();
  }

  @Test
  void areRefusedWhereTheyExtendApplicationEvent() {
    assertThatThrownBy(() -> publishInTransaction(new Old(), () -> {}))
        .isInstanceOf(InvalidMessageException.class)
        .hasMessageContaining("Old extends ApplicationEvent, whose source is no content");
    assertThat(messages()).isEmpty();
  }

  @Test
  void areRefusedWithoutATransaction() {
    assertThatThrownBy(() -> app.context().publishEvent(new Placed("1")))
        .isInstanceOf(NoTransactionException.class)
        .hasMessageContaining("Placed goes to the outbox, so publish it in a transaction");
    assertThat(messages()).isEmpty();
  }

  @Test
  void othersAreNone() {
    app.context().publishEvent(new Seen("1"));
    publishInTransaction(new Seen("1"), () -> {});
    assertThat(messages()).isEmpty();
  }
}
