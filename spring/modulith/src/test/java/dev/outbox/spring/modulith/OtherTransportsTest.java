package dev.outbox.spring.modulith;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;

class OtherTransportsTest {
  private static final String[] FOUND = {
    "org.springframework.modulith.events.kafka.KafkaEventExternalizerConfiguration",
    null, // another filter took it
    "org.springframework.modulith.events.kafka.KafkaJacksonConfiguration"
  };

  private static boolean[] kept(Map<String, Object> properties) {
    StandardEnvironment environment = new StandardEnvironment();
    environment.getPropertySources().addFirst(new MapPropertySource("test", properties));
    OtherTransports filter = new OtherTransports();
    filter.setEnvironment(environment);
    return filter.match(FOUND, null);
  }

  @Test
  void areKeptOutInTheModeOutbox() {
    assertThat(kept(Map.of("spring.modulith.events.externalization.mode", "OUTBOX")))
        .containsExactly(false, true, true);
  }

  @Test
  void stayInAnyOther() {
    assertThat(kept(Map.of())).containsExactly(true, true, true);
  }
}
