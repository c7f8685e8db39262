package dev.outbox.spring.modulith;

import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.AutoConfigurationImportFilter;
import org.springframework.boot.autoconfigure.AutoConfigurationMetadata;
import org.springframework.context.EnvironmentAware;
import org.springframework.core.env.Environment;

/**
 * Keeps Spring Modulith's own transports out in the mode {@code outbox}. Before 2.1 they know no
 * modes, and would send each event beside the outbox.
 */
final class OtherTransports implements AutoConfigurationImportFilter, EnvironmentAware {
  private static final String PACKAGE = "org.springframework.modulith.events.";
  private static final Set<String> TRANSPORTS =
      Set.of(
          PACKAGE + "amqp.RabbitEventExternalizerConfiguration",
          PACKAGE + "jms.JmsEventExternalizerConfiguration",
          PACKAGE + "kafka.KafkaEventExternalizerConfiguration",
          PACKAGE + "messaging.SpringMessagingEventExternalizerConfiguration");

  private boolean outbox;

  @Override
  public void setEnvironment(Environment environment) {
    String mode = environment.getProperty(OutboxModulithAutoConfiguration.MODE, "");
    outbox = mode.toLowerCase(Locale.ROOT).equals("outbox");
  }

  @Override
  public boolean[] match(
      @Nullable String[] autoConfigurationClasses,
      AutoConfigurationMetadata autoConfigurationMetadata) {
    boolean[] kept = new boolean[autoConfigurationClasses.length];
    for (int i = 0; i < kept.length; i++) {
      String name = autoConfigurationClasses[i];
      kept[i] = !(outbox && name != null && TRANSPORTS.contains(name));
    }
    return kept;
  }
}
