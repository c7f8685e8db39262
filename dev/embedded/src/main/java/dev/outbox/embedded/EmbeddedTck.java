package dev.outbox.embedded;

import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.publisher.PublisherTck;
import java.util.Locale;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The publishers' suite on an embedded server, which comes back after all that is done to it. */
public abstract class EmbeddedTck extends PublisherTck
    implements PublisherTck.BrokerCrashes, PublisherTck.BrokerHangs {
  private static final String GOES_TO = "test-goes-to";

  protected abstract EmbeddedServer server();

  @Override
  public final void stopBroker() {
    server().stop();
  }

  @Override
  public final void killBroker() {
    server().kill();
  }

  @Override
  public final void startBroker() {
    server().restart();
  }

  @Override
  public final void pauseBroker() {
    server().pause();
  }

  @Override
  public final void resumeBroker() {
    server().resume();
  }

  /** Lets {@link #destination} say this of the message. */
  protected static OutboxMessage.Builder to(String destination, OutboxMessage.Builder message) {
    return message.header(GOES_TO, destination);
  }

  /** Where a message goes, by {@link #to}. */
  protected static String destination(StoredMessage message, String otherwise) {
    return message.message().headers().stream()
        .filter(header -> header.name().equals(GOES_TO))
        .map(Header::value)
        .findFirst()
        .orElse(otherwise);
  }

  /**
   * The same with its attributes.
   *
   * @param headers gives the value of the header of a name, or null
   */
  public static Received withAttributes(
      Received received, Function<String, @Nullable String> headers) {
    Received all = received;
    for (Attribute attribute : Attribute.values()) {
      String name = attribute.name().toLowerCase(Locale.ROOT).replace('_', '-');
      String ours = headers.apply("outbox-" + name);
      all = all.with(attribute, ours == null ? headers.apply(name) : ours);
    }
    return all;
  }
}
