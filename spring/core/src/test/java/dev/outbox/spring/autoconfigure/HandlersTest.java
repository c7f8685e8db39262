package dev.outbox.spring.autoconfigure;

import static dev.outbox.spring.Patience.await;
import static dev.outbox.spring.autoconfigure.Refused.refused;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import dev.outbox.payload.OutboxEvent;
import dev.outbox.publisher.handler.HandlerPublisher;
import dev.outbox.publisher.handler.RejectedException;
import dev.outbox.publisher.handler.UnavailableException;
import dev.outbox.publisher.http.HttpPublisher;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.spring.BootType;
import dev.outbox.spring.OutboxHandler;
import dev.outbox.spring.PayloadReader;
import java.lang.reflect.Proxy;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.Async;
import org.springframework.test.util.AopTestUtils;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.SimpleTransactionStatus;

/** Methods of beans that handle messages. */
class HandlersTest {
  private final ApplicationContextRunner withoutJackson =
      new ApplicationContextRunner()
          .withClassLoader(Jars.of(HandlerPublisher.class))
          .withConfiguration(
              AutoConfigurations.of(
                  OutboxPayloadsAutoConfiguration.class, OutboxPublisherAutoConfiguration.class));
  private final ApplicationContextRunner runner =
      withoutJackson.withConfiguration(
          AutoConfigurations.of(BootType.of("jackson", "JacksonAutoConfiguration")));

  private final ApplicationContextRunner withHttp =
      runner
          .withClassLoader(getClass().getClassLoader()) // proxies need it
          .withPropertyValues(
              "outbox.publisher=http",
              "outbox.http.destination=http://no-such-broker.invalid/",
              "outbox.http.cloud-events-source=https://shop.example");

  record Placed(String id) {}

  @OutboxEvent(aggregate = "order", key = "id", type = "order.paid")
  record Paid(String id, int amount) {}

  static class Handlers {
    final List<String> handled = Collections.synchronizedList(new ArrayList<>());

    @OutboxHandler
    void placed(StoredMessage stored, Placed placed, OutboxMessage message) {
      handled.add("%s %d %s".formatted(placed, stored.sequence(), message.aggregateId()));
    }

    @OutboxHandler
    public void paid(Paid paid) {
      handled.add("" + paid);
    }

    @OutboxHandler("Text")
    public void text(String text) {
      handled.add(text);
    }

    @OutboxHandler("Bytes")
    public void bytes(byte[] bytes) {
      handled.add(new String(bytes, UTF_8));
    }

    @OutboxHandler({"Sent", "Returned"})
    public void others(OutboxMessage message) {
      handled.add(message.eventType());
    }

    @OutboxHandler("Rejected")
    public void rejects() {
      throw new RejectedException("no such product");
    }

    @OutboxHandler("Away")
    public void isAway() {
      throw new UnavailableException("no mail server");
    }
  }

  private static StoredMessage message(String eventType, String payload) {
    return StoredMessage.of(
        1,
        0,
        Instant.EPOCH,
        OutboxMessage.builder()
            .aggregate("order", "o-1")
            .eventType(eventType)
            .payload(payload)
            .build());
  }

  /** As a relay does: while there is no answer yet, the message is handed over again. */
  private static Result publish(ApplicationContext context, String eventType, String payload) {
    MessagePublisher publisher = context.getBean(MessagePublisher.class);
    List<StoredMessage> one = List.of(message(eventType, payload));
    return await()
        .until(
            () -> publisher.publish(one).get(0),
            result -> !result.toString().contains("has not answered yet"));
  }

  @Test
  void areCalledWithWhatTheyAskFor() {
    runner
        .withBean(Handlers.class)
        .run(
            context -> {
              assertThat(context.getBean(MessagePublisher.class))
                  .isInstanceOf(HandlerPublisher.class);
              publish(context, "Placed", "{\"id\":\"1\"}");
              publish(context, "order.paid", "{\"id\":\"2\",\"amount\":3}");
              publish(context, "Sent", "");
              publish(context, "Returned", "");
              publish(context, "Text", "{\"total\": 12.50}");
              publish(context, "Bytes", "no JSON");
              assertThat(context.getBean(Handlers.class).handled)
                  .containsExactly(
                      "Placed[id=1] 1 o-1",
                      "Paid[id=2, amount=3]",
                      "Sent",
                      "Returned",
                      "{\"total\": 12.50}",
                      "no JSON");
            });
  }

  @Test
  void sayWhatCameOfAMessage() {
    runner
        .withBean(Handlers.class)
        .run(
            context -> {
              assertThat(publish(context, "Rejected", "")).isInstanceOf(Result.Rejected.class);
              assertThat(publish(context, "Away", "")).isInstanceOf(Result.Unavailable.class);
              assertThat(publish(context, "Unknown", "")).isInstanceOf(Result.Rejected.class);
              assertThat(publish(context, "Placed", "no JSON"))
                  .isInstanceOfSatisfying(
                      Result.Rejected.class,
                      rejected ->
                          assertThat(rejected.error())
                              .contains("the payload is no " + Placed.class.getName()));
            });
  }

  interface Sends {
    @Transactional
    void send(Placed placed, StoredMessage message);
  }

  static class Sender implements Sends {
    final List<String> sent = Collections.synchronizedList(new ArrayList<>());

    @Override
    @OutboxHandler
    public void send(Placed placed, StoredMessage message) {
      sent.add(placed.id() + " " + message.sequence());
    }
  }

  static class NotOnTheInterface implements Runnable {
    @Override
    @Transactional
    public void run() {}

    @OutboxHandler("A")
    public void handle() {}
  }

  /** Proxies of interfaces are this annotation's default. */
  @Configuration(proxyBeanMethods = false)
  @EnableTransactionManagement
  static class Transactions implements PlatformTransactionManager {
    final AtomicInteger commits = new AtomicInteger();

    @Override
    public TransactionStatus getTransaction(TransactionDefinition definition) {
      return new SimpleTransactionStatus();
    }

    @Override
    public void commit(TransactionStatus status) {
      commits.incrementAndGet();
    }

    @Override
    public void rollback(TransactionStatus status) {}
  }

  @Configuration(proxyBeanMethods = false)
  @EnableTransactionManagement(proxyTargetClass = true)
  static class ProxiesOfClasses extends Transactions {}

  @ParameterizedTest
  @ValueSource(classes = {Transactions.class, ProxiesOfClasses.class})
  void areCalledThroughTheirProxies(Class<? extends Transactions> transactions) {
    withHttp
        .withUserConfiguration(transactions)
        .withBean("sender", Sender.class)
        .run(
            context -> {
              Object proxy = context.getBean("sender");
              assertThat(Proxy.isProxyClass(proxy.getClass()))
                  .isEqualTo(transactions == Transactions.class);
              assertThat(publish(context, "Placed", "{\"id\":\"1\"}"))
                  .isEqualTo(Result.delivered());
              assertThat(((Sender) AopTestUtils.getTargetObject(proxy)).sent)
                  .containsExactly("1 1");
              assertThat(context.getBean(Transactions.class).commits).hasValue(1);
            });
  }

  @Test
  void aMethodThatTheProxyDoesNotHaveIsRefused() {
    refused(
        withHttp.withUserConfiguration(Transactions.class).withBean(NotOnTheInterface.class),
        "The handler NotOnTheInterface.handle is on no interface of its bean",
        "Declare it, with the same arguments, on an interface");
  }

  static class WithFinal {
    @Transactional
    public void other() {}

    @OutboxHandler("A")
    public final void handle() {}
  }

  /** It would run in the proxy, without the bean's fields and without a transaction. */
  @Test
  void aFinalMethodBehindAProxyOfItsClassIsRefused() {
    refused(
        withHttp.withUserConfiguration(ProxiesOfClasses.class).withBean(WithFinal.class),
        "The handler WithFinal.handle is final",
        "Take final from it");
    runner.withBean(WithFinal.class).run(context -> assertThat(context).hasNotFailed());
  }

  abstract static class OfAnything<T> {
    final List<T> handled = new ArrayList<>();

    @OutboxHandler
    public void handle(T event) {
      handled.add(event);
    }
  }

  static class OfPlaced extends OfAnything<Placed> {}

  static class OfPaid extends OfAnything<Paid> {}

  @Test
  void anArgumentMayBeOfTheTypeThatASubclassSays() {
    runner
        .withBean(OfPlaced.class)
        .withBean(OfPaid.class)
        .run(
            context -> {
              publish(context, "Placed", "{\"id\":\"1\"}");
              publish(context, "order.paid", "{\"id\":\"2\",\"amount\":3}");
              assertThat(context.getBean(OfPlaced.class).handled).containsExactly(new Placed("1"));
              assertThat(context.getBean(OfPaid.class).handled).containsExactly(new Paid("2", 3));
            });
  }

  @Test
  void theApplicationsOwnReaderComesFirst() {
    withoutJackson
        .withBean(Handlers.class)
        .withBean(
            PayloadReader.class,
            () ->
                (message, type) ->
                    type == Placed.class ? new Placed(message.payloadAsString()) : new Paid("", 0))
        .run(
            context -> {
              publish(context, "Placed", "own");
              assertThat(context.getBean(Handlers.class).handled)
                  .containsExactly("Placed[id=own] 1 o-1");
            });
  }

  @Test
  void aBrokerHasTheOthers() {
    withHttp
        .withBean(Handlers.class)
        .run(
            context -> {
              assertThat(publish(context, "Sent", "")).isEqualTo(Result.delivered());
              assertThat(publish(context, "Unknown", "")).isInstanceOf(Result.Unavailable.class);
            });
  }

  @Test
  void withoutHandlersTheBrokerIsAlone() {
    withHttp.run(
        context ->
            assertThat(context.getBean(MessagePublisher.class)).isInstanceOf(HttpPublisher.class));
  }

  @Test
  void withoutTheJarTheMethodsAreNone() {
    runner
        .withClassLoader(Jars.of())
        .withBean(Handlers.class)
        .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(MessagePublisher.class));
  }

  @Test
  void theyHaveProperties() {
    refused(
        runner.withBean(Handlers.class).withPropertyValues("outbox.handlers.concurrency=0"),
        "concurrency is 0",
        "outbox.handlers.*");
    refused(
        runner.withBean(Handlers.class).withPropertyValues("outbox.handlers.timeout=25s"),
        "outbox.handlers.timeout is 25s, it must be below outbox.relay.publish-timeout",
        "outbox.handlers.*");
  }

  @Test
  void theyHaveLimits() {
    runner
        .withBean(Handlers.class)
        .withPropertyValues("outbox.handlers.rates.Sent=1/d", "outbox.handlers.rate=2/d")
        .run(
            context -> {
              assertThat(publish(context, "Sent", "")).isEqualTo(Result.delivered());
              assertThat(publish(context, "Returned", "")).isEqualTo(Result.delivered());
              assertThat(publish(context, "Sent", ""))
                  .isInstanceOfSatisfying(
                      Result.Unavailable.class,
                      limited -> assertThat(limited.destination()).isEqualTo("the limit of Sent"));
              assertThat(publish(context, "Returned", "")).isEqualTo(Result.delivered());
              assertThat(context.getBean(Handlers.class).handled).hasSize(3);
            });
    refused(
        runner.withBean(Handlers.class).withPropertyValues("outbox.handlers.rate=fast"),
        "the rate fast is not understood",
        "outbox.handlers.*");
  }

  // ---- what is refused at the start

  static class Returns {
    @OutboxHandler("A")
    public String handle() {
      return "";
    }
  }

  static class InAnotherThread {
    @Async
    @OutboxHandler("A")
    public void handle() {}
  }

  static class Private {
    @OutboxHandler("A")
    private void handle() {}
  }

  static class TwoPayloads {
    @OutboxHandler("A")
    public void handle(Placed one, Paid other) {}
  }

  static class NoType {
    @OutboxHandler
    public void handle(OutboxMessage message) {}
  }

  static class OfAnInterface {
    @OutboxHandler
    public void handle(Runnable event) {}
  }

  static class OfAnObject {
    @OutboxHandler
    public void handle(Object event) {}
  }

  static class OfAText {
    @OutboxHandler
    public void handle(String text) {}
  }

  static class One {
    @OutboxHandler("A")
    public void handle() {}
  }

  static class Other {
    @OutboxHandler("A")
    public void handle() {}
  }

  @Test
  void methodsThatCannotHandleAreRefused() {
    refused(
        runner.withBean(Returns.class), "The handler Returns.handle returns something", "nothing");
    refused(runner.withBean(InAnotherThread.class), "InAnotherThread.handle is @Async", "@Async");
    refused(runner.withBean(Private.class), "Private.handle is static or private", "from outside");
    refused(runner.withBean(TwoPayloads.class), "has several arguments for the payload", "one");
    refused(runner.withBean(NoType.class), "does not say which event types", "@OutboxHandler(");
    refused(runner.withBean(OfAnInterface.class), "does not say which event types", "class");
    refused(runner.withBean(OfAnObject.class), "does not say which event types", "class");
    refused(runner.withBean(OfAText.class), "does not say which event types", "class");
    refused(withoutJackson.withBean(Handlers.class), "nothing reads it", "PayloadReader");
  }

  @Test
  void aTypeHasOneHandler() {
    refused(
        runner.withBean("one", One.class).withBean("other", Other.class),
        "Both One.handle of the bean one and Other.handle of the bean other handle the event type A",
        "Leave one");
  }

  @Test
  void theJarAloneIsNoPublisher() {
    refused(runner, "no bean has a method with @OutboxHandler", "Add one");
  }
}
