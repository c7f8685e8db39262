package dev.outbox.spring.autoconfigure;

import java.util.Map;
import java.util.TreeMap;
import org.springframework.context.ApplicationContext;

/** What {@code /actuator/outbox} answers. */
public final class Endpoints {
  private Endpoints() {}

  public static Long pending(ApplicationContext context) {
    return context.getBean(OutboxEndpoint.class).outbox().waiting().pending();
  }

  /** The relays of all data sources, by their names: the first is {@code outbox}. */
  public static Map<String, String> relays(ApplicationContext context) {
    OutboxEndpoint.Answer answer = context.getBean(OutboxEndpoint.class).outbox();
    Map<String, String> relays = new TreeMap<>(Map.of(Relays.FIRST, answer.relay().toString()));
    answer.others().forEach((name, other) -> relays.put(name, other.relay().toString()));
    return relays;
  }

  public static String relay(ApplicationContext context) {
    return context.getBean(OutboxEndpoint.class).outbox().relay().toString();
  }
}
