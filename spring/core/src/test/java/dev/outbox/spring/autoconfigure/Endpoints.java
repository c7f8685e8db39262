package dev.outbox.spring.autoconfigure;

import org.springframework.context.ApplicationContext;

/** What {@code /actuator/outbox} answers. */
public final class Endpoints {
  private Endpoints() {}

  public static Long pending(ApplicationContext context) {
    return context.getBean(OutboxEndpoint.class).outbox().waiting().pending();
  }

  public static String relay(ApplicationContext context) {
    return context.getBean(OutboxEndpoint.class).outbox().relay().toString();
  }
}
