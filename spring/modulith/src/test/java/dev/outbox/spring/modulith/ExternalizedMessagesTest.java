package dev.outbox.spring.modulith;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Header;
import dev.outbox.InvalidMessageException;
import dev.outbox.OutboxMessage;
import dev.outbox.TransientOutboxException;
import dev.outbox.payload.PayloadSerializer;
import dev.outbox.payload.SerializedPayload;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.context.ApplicationEvent;
import org.springframework.expression.spel.support.StandardEvaluationContext;
import org.springframework.messaging.support.MessageBuilder;
import org.springframework.modulith.events.EventExternalizationConfiguration;
import org.springframework.modulith.events.EventExternalizationConfiguration.Router;
import org.springframework.modulith.events.Externalized;
import org.springframework.modulith.events.RoutingTarget;

/** Which message an event becomes. */
class ExternalizedMessagesTest {
  private static final PayloadSerializer TEXT =
      (about, payload) -> SerializedPayload.of(payload.toString().getBytes(UTF_8), "text/plain");

  record Plain(String id) {}

  @Externalized
  record Unrouted(String id) {}

  @Externalized("#{'orders-' + tenant()}::#{id()}")
  record OfTenant(String tenant, String id) {}

  @Externalized("#{'orders-' + tenant()}")
  record WithoutKey(String tenant) {}

  @Externalized("orders::order-#{id()}")
  record HalfExpression(String id) {}

  @Externalized("orders-#{id()}::key")
  record HalfTarget(String id) {}

  static final class Old extends ApplicationEvent {
    private static final long serialVersionUID = 1L;

    Old() {
      super("its source");
    }
  }

  private static Router all() {
    return EventExternalizationConfiguration.externalizing().select(event -> true);
  }

  private static Router annotated() {
    return EventExternalizationConfiguration.defaults("dev.outbox.spring");
  }

  private static OutboxMessage message(Router router, Object event) {
    return message(router.build(), TEXT, event);
  }

  private static OutboxMessage message(
      EventExternalizationConfiguration configuration, PayloadSerializer serializer, Object event) {
    return new ExternalizedMessages(configuration, serializer, new StandardEvaluationContext())
        .of(event);
  }

  private static void refused(Router router, Object event, String... sentences) {
    assertThatThrownBy(() -> message(router, event))
        .isInstanceOf(InvalidMessageException.class)
        .hasMessageContaining(event.getClass().getName())
        .hasMessageContainingAll(sentences);
  }

  @Test
  void anEventOfSpringsClassNeedsAMapping() {
    refused(all(), new Old(), "extends ApplicationEvent, whose source is no content");
    assertThat(message(all().mapping(Old.class, old -> new Plain("1")), new Old()))
        .extracting(OutboxMessage::eventType, OutboxMessage::payloadAsString)
        .containsExactly("Old", "Plain[id=1]");
  }

  @Test
  void targetAndKeyAreEvaluated() {
    OutboxMessage message = message(annotated(), new OfTenant("acme", "order-1"));
    assertThat(message.aggregateType()).isEqualTo("orders-acme");
    assertThat(message.aggregateId()).isEqualTo("order-1");
    assertThat(message.recordKey()).isEqualTo("order-1");
    assertThat(message.eventType()).isEqualTo("OfTenant");
    assertThat(message.contentType()).isEqualTo("text/plain");
    assertThat(message.payloadAsString()).isEqualTo("OfTenant[tenant=acme, id=order-1]");
  }

  @Test
  void withoutATargetItIsTheNameInTheApplication() {
    assertThat(message(annotated(), new Unrouted("1")).aggregateType())
        .isEqualTo("modulith.ExternalizedMessagesTest$Unrouted");
  }

  /** Modulith's routing gives the expression of the target as the key of such an event. */
  @Test
  void withoutAKeyEachIsOnItsOwn() {
    OutboxMessage one = message(annotated(), new WithoutKey("acme"));
    OutboxMessage two = message(annotated(), new WithoutKey("acme"));
    assertThat(one.aggregateType()).isEqualTo("orders-acme");
    assertThat(one.key()).isEqualTo(one.id().toString()).isNotEqualTo(two.key());
  }

  @Test
  void anExpressionIsNeverTheKey() {
    refused(annotated(), new HalfExpression("1"), "routing key order-#{id()}", "#{'order-' +");
    refused(annotated(), new HalfTarget("1"), "routing target orders-#{id()}");
  }

  @Test
  void aKeyThatIsNullIsRefused() {
    refused(annotated(), new OfTenant("acme", null), "routing key #{id()} is null");
  }

  @Test
  void whatTheEventWasMappedToIsSentAndRouted() {
    OutboxMessage message =
        message(
            all()
                .mapping(OfTenant.class, event -> new Plain("mapped " + event.id()))
                .route(OfTenant.class, it -> RoutingTarget.forTarget("orders").andKey("#{id()}")),
            new OfTenant("acme", "1"));
    assertThat(message.aggregateId()).isEqualTo("mapped 1");
    assertThat(message.payloadAsString()).isEqualTo("Plain[id=mapped 1]");
    assertThat(message.eventType()).isEqualTo("OfTenant");
  }

  @Test
  void whatFailsNamesTheEvent() {
    refused(
        all()
            .mapping(
                Plain.class,
                event -> {
                  throw new IllegalStateException("no customer of " + event.id());
                }),
        new Plain("order-1"),
        "IllegalStateException: no customer of order-1");
    refused(all().mapping(event -> null), new Plain("1"), "its mapping returns null");
    refused(annotated(), new OfTenant("acme", " "), "aggregateId is blank");
  }

  @Test
  void whatMayPassIsLeftAsItIs() {
    TransientOutboxException away = new TransientOutboxException("the registry is away", null);
    assertThatThrownBy(
            () ->
                message(
                    all().build(),
                    (about, payload) -> {
                      throw away;
                    },
                    new Plain("1")))
        .isSameAs(away);
  }

  @Test
  void headersOfTheConfigurationWithoutThoseThatHaveNoValue() {
    Map<String, Object> headers = new HashMap<>(Map.of("tenant", "acme", "version", 2));
    headers.put("trace", null);
    OutboxMessage message = message(all().headers(Plain.class, event -> headers), new Plain("1"));
    assertThat(message.headers())
        .containsExactlyInAnyOrder(new Header("tenant", "acme"), new Header("version", "2"));
  }

  @Test
  void aMessageOfSpringsBringsItsHeadersTopicAndKey() {
    OutboxMessage message =
        message(
            all()
                .mapping(
                    Plain.class,
                    event ->
                        MessageBuilder.withPayload("text " + event.id())
                            .setHeader("tenant", "acme".getBytes(UTF_8))
                            .setHeader("kafka_topic", "elsewhere")
                            .setHeader("kafka_messageKey", 42)
                            .build()),
            new Plain("1"));
    assertThat(message.aggregateType()).isEqualTo("elsewhere");
    assertThat(message.aggregateId()).isEqualTo("42");
    assertThat(message.payloadAsString()).isEqualTo("text 1");
    assertThat(message.headers()).containsExactly(new Header("tenant", "acme"));
  }

  @Test
  void whatCannotBeFollowedIsRefused() {
    refused(
        all().headers(event -> Map.of("kafka_partitionId", 3)),
        new Plain("1"),
        "header kafka_partitionId");
  }
}
