package dev.outbox.store.jdbc.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The limits of pools")
class PoolSizeTest {

  @Test
  @DisplayName("are known in a native image too")
  void nativeImage() throws IOException {
    String file = "/META-INF/native-image/dev.outbox/outbox-store-jdbc/reflect-config.json";
    try (InputStream config = PoolSize.class.getResourceAsStream(file)) {
      String text = new String(config.readAllBytes(), StandardCharsets.UTF_8);
      PoolSize.LIMITS.forEach(
          (type, methods) -> {
            assertThat(text).contains("\"" + type + "\"");
            for (String method : methods.split(" ")) {
              assertThat(text).contains("\"" + method + "\"");
            }
          });
    }
  }
}
