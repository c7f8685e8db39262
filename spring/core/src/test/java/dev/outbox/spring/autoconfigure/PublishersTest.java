package dev.outbox.spring.autoconfigure;

import static dev.outbox.spring.autoconfigure.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.publisher.core.LimitedPublisher;
import dev.outbox.publisher.http.HttpPublisher;
import dev.outbox.publisher.http.HttpPublisherProvider;
import dev.outbox.publisher.nats.NatsPublisherProvider;
import dev.outbox.publisher.rabbitmq.RabbitPublisher;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spring.BootType;
import dev.outbox.spring.autoconfigure.OutboxPublisherAutoConfiguration.RabbitConnection;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.amqp.rabbit.connection.AbstractConnectionFactory;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/** Which publishers there are, and what is said where it is not clear. Nobody is connected to. */
class PublishersTest {
  private static final String[] HTTP = {
    "outbox.http.destination=https://shop.example/{aggregateType}",
    "outbox.http.cloud-events-source=https://shop.example"
  };

  private final ApplicationContextRunner runner =
      new ApplicationContextRunner()
          .withConfiguration(AutoConfigurations.of(OutboxPublisherAutoConfiguration.class))
          .withPropertyValues("spring.kafka.bootstrap-servers=localhost:9092");

  @Test
  void theOnlyOneNeedsNoName() {
    runner
        .withPropertyValues(HTTP)
        .withClassLoader(Jars.of(HttpPublisherProvider.class))
        .run(
            context ->
                assertThat(context)
                    .getBean(MessagePublisher.class)
                    .isInstanceOf(HttpPublisher.class));
  }

  @Test
  void itMayHaveALimit() {
    for (String rate : List.of("rate", "rates.invoice")) {
      runner
          .withPropertyValues(HTTP)
          .withPropertyValues("outbox.publisher=http", "outbox.http.%s=20/s".formatted(rate))
          .run(
              context ->
                  assertThat(context.getBean(MessagePublisher.class))
                      .isInstanceOf(LimitedPublisher.class));
    }
  }

  @Test
  void theChosenOneIsOpened() {
    runner
        .withPropertyValues("outbox.publisher=rabbitmq", "outbox.rabbitmq.uri=amqp://localhost")
        .withClassLoader(new FilteredClassLoader(AbstractConnectionFactory.class))
        .run(
            context ->
                assertThat(context)
                    .getBean(MessagePublisher.class)
                    .isInstanceOf(RabbitPublisher.class));
  }

  /** An outage of DNS is one like another: whoever only appends starts. */
  @Test
  void noBrokerNeedsToBeKnownToDns() {
    runner
        .withPropertyValues(HTTP)
        .withPropertyValues(
            "outbox.publisher=kafka,nats,http,rabbitmq",
            "outbox.nats.types=a",
            "outbox.http.types=b",
            "outbox.rabbitmq.types=c",
            "spring.kafka.bootstrap-servers=no-such-broker.invalid:9092",
            "outbox.nats.servers=nats://no-such-broker.invalid",
            "outbox.rabbitmq.uri=amqp://no-such-broker.invalid",
            "outbox.http.destination=https://no-such-broker.invalid/")
        .run(context -> assertThat(context).hasNotFailed().hasSingleBean(MessagePublisher.class));
  }

  @Test
  void rabbitIsWhereTheConnectionFactoryOfTheApplicationSays() {
    withRabbitOfBoot()
        .withBean(CachingConnectionFactory.class, () -> new CachingConnectionFactory("rabbit-prod"))
        .run(
            context ->
                assertThat(context.getBean(RabbitConnection.class))
                    .extracting(to -> to.factory().getHost(), RabbitConnection::addresses)
                    .containsExactly("rabbit-prod", ""));
  }

  @Test
  void rabbitHasTheNodesThatBootKnows() {
    withRabbitOfBoot()
        .withPropertyValues("spring.rabbitmq.addresses=rabbit-1,rabbit-2:5673")
        .run(
            context ->
                assertThat(context.getBean(RabbitConnection.class))
                    .hasToString("rabbit-1:5672,rabbit-2:5673"));
  }

  private ApplicationContextRunner withRabbitOfBoot() {
    return runner
        .withPropertyValues("outbox.publisher=rabbitmq")
        .withConfiguration(AutoConfigurations.of(BootType.of("amqp", "RabbitAutoConfiguration")));
  }

  /** They are for the tests and the demo of this project, beside an application in one shell. */
  @Test
  void variablesOfTheEmbeddedServersAreNoProperties() {
    String source = StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME;
    Map<String, Object> variables =
        Map.of(
            "OUTBOX_EMBEDDED_NATS", "/usr/sbin/nats-server",
            "OUTBOX_EMBEDDED_RABBITMQ", "/usr/lib/rabbitmq/bin",
            "OUTBOX_PGBOUNCER", "/usr/sbin/pgbouncer");
    runner
        .withPropertyValues("outbox.publisher=rabbitmq", "outbox.rabbitmq.uri=amqp://localhost")
        .withSystemProperties("outbox.embedded.nats=/usr/sbin/nats-server")
        .withInitializer(
            context ->
                context
                    .getEnvironment()
                    .getPropertySources()
                    .replace(source, new SystemEnvironmentPropertySource(source, variables)))
        .run(context -> assertThat(context).hasNotFailed().hasSingleBean(MessagePublisher.class));
  }

  @Test
  void aPublisherOfTheApplicationStandsInTheirPlace() {
    MessagePublisher own = messages -> List.of();
    runner
        .withBean(MessagePublisher.class, () -> own)
        .run(context -> assertThat(context.getBean(MessagePublisher.class)).isSameAs(own));
  }

  @Test
  void severalOfTheApplicationAreNamed() {
    FailureAnalysis analysis =
        new NoOutboxFailureAnalyzer()
            .analyze(new NoUniqueBeanDefinitionException(MessagePublisher.class, "one", "two"));
    assertThat(analysis.getDescription()).contains("several publishers", "one, two");
    assertThat(analysis.getAction()).contains("@Primary", "RoutingPublisher");
  }

  @Test
  void aMissingJarIsNamed() {
    refused(
        runner
            .withPropertyValues("outbox.publisher=nats")
            .withClassLoader(new FilteredClassLoader(NatsPublisherProvider.class)),
        "outbox.publisher names nats, and on the class path are only http, kafka, rabbitmq",
        "Add dev.outbox:outbox-publisher-nats");
  }

  @Test
  void whereThereIsNoneAtAllTheMissingOneIsNamed() {
    for (String chosen : List.of("outbox.publisher=kafka", "outbox.publisher[0]=kafka")) {
      refused(
          withoutPublishers().withPropertyValues(chosen),
          "outbox.publisher names kafka, and on the class path is no publisher",
          "Add dev.outbox:outbox-publisher-kafka");
    }
  }

  @Test
  void whereThereIsNoneAndNoneIsChosenThereIsNothing() {
    withoutPublishers()
        .withPropertyValues("outbox.publisher=")
        .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(MessagePublisher.class));
  }

  private ApplicationContextRunner withoutPublishers() {
    return runner.withClassLoader(Jars.of());
  }

  @Test
  void whoHasADestinationOfItsOwnIsNotToldThoseOfOtherTypes() {
    runner
        .withPropertyValues(HTTP)
        .withPropertyValues(
            "outbox.publisher=rabbitmq,http",
            "outbox.rabbitmq.uri=amqp://localhost",
            "outbox.http.types=invoice",
            "outbox.destinations.order=shop.orders")
        .run(context -> assertThat(context).hasNotFailed().hasSingleBean(MessagePublisher.class));
  }

  static Stream<Arguments> refusals() {
    return Stream.of(
        Arguments.of(
            "", "on the class path, http, kafka, nats, rabbitmq, and none", "Set outbox.publisher"),
        Arguments.of("pulsar", "outbox.publisher names pulsar", "define a MessagePublisher bean"),
        Arguments.of("kafka,kafka", "outbox.publisher names kafka twice", "Name each"),
        Arguments.of(
            "kafka,http", "the publishers kafka, http have no types", "outbox.http.types=invoice"),
        Arguments.of(
            "kafka outbox.kafka.types=order", "each publisher has types", "outbox.*.types"),
        Arguments.of(
            "kafka,http,nats outbox.http.types=invoice outbox.nats.types=invoice",
            "the aggregate type invoice has two publishers",
            "Correct"),
        Arguments.of(
            "http outbox.http.destination=",
            "The outbox cannot publish to HTTP: destination is missing",
            "Set outbox.http.destination"),
        Arguments.of(
            "nats outbox.nats.servers=",
            "The outbox cannot publish to NATS: servers is missing",
            "Set outbox.nats.servers"),
        Arguments.of(
            "nats outbox.nats.properties.pasword=x",
            "nats.pasword is no setting of it",
            "outbox.nats.*"),
        Arguments.of(
            "rabbitmq",
            "The outbox cannot publish to RabbitMQ: the URI is missing",
            "outbox.rabbitmq.uri"),
        Arguments.of(
            "kafka outbox.kafka.properties[acks]=1",
            "The outbox cannot publish to Kafka: acks is 1",
            "outbox.kafka.*"),
        Arguments.of(
            "kafka outbox.kafka.timeout=25s",
            "outbox.kafka.timeout is 25s, it must be below outbox.relay.publish-timeout",
            "outbox.kafka.*"),
        Arguments.of(
            "kafka,http outbox.http.types=invoice outbox.http.timeout=18001",
            "outbox.http.timeout is 18.001s, it must be at most 18s",
            "outbox.http.*"),
        Arguments.of(
            "kafka outbox.relay.lease=30", // meant are seconds
            "outbox.relay.lease is 30ms: of that a call of the publisher gets 20ms, and needs 1s: lengthen it; a number without a unit is milliseconds",
            "outbox.kafka.*"),
        Arguments.of(
            "kafka outbox.relay.publish-timeout=1s",
            "outbox.relay.publish-timeout is 1s: of that a call of the publisher gets 800ms",
            "outbox.kafka.*"));
  }

  /** Publishers and further settings, in one text. */
  @ParameterizedTest
  @MethodSource("refusals")
  void isRefused(String settings, String problem, String action) {
    refused(
        runner
            .withPropertyValues(HTTP)
            .withPropertyValues("outbox.nats.servers=nats://localhost:1")
            .withPropertyValues(("outbox.publisher=" + settings).split(" ", -1))
            .withClassLoader(new FilteredClassLoader(AbstractConnectionFactory.class)),
        problem,
        action);
  }

  @Test
  void aTimeoutMayBeTheWholeShareOfItsPublisher() {
    runner
        .withPropertyValues(HTTP)
        .withPropertyValues(
            "outbox.publisher=kafka,http", "outbox.http.types=invoice", "outbox.http.timeout=18s")
        .run(context -> assertThat(context).hasNotFailed());
  }
}
