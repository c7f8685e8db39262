package dev.outbox.spring;

import dev.outbox.spring.Servers.Schema;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Map;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.support.GenericApplicationContext;

/**
 * Where the servers are, as {@code @ServiceConnection} and Docker Compose say it: by beans, of
 * types that are elsewhere in each generation of Boot, and which count more than properties.
 */
record ServiceConnections(Schema schema, String bootstrapServers)
    implements ApplicationContextInitializer<GenericApplicationContext> {

  /** What the properties say meanwhile: nobody is there. */
  static final String[] WRONG_PROPERTIES = {
    "--spring.datasource.url=jdbc:postgresql://127.0.0.1:1/none",
    "--spring.datasource.username=nobody",
    "--spring.kafka.bootstrap-servers=127.0.0.1:1"
  };

  @Override
  public void initialize(GenericApplicationContext context) {
    register(
        context,
        BootType.of("jdbc", "JdbcConnectionDetails"),
        Map.of(
            "getJdbcUrl", schema.url(),
            "getUsername", schema.user(),
            "getPassword", schema.password()));
    register(
        context,
        BootType.of("kafka", "KafkaConnectionDetails"),
        Map.of("getBootstrapServers", List.of(bootstrapServers)));
  }

  static <T> void register(
      GenericApplicationContext context, Class<T> type, Map<String, Object> answers) {
    InvocationHandler handler =
        (proxy, method, arguments) -> {
          if (method.getDeclaringClass() == Object.class) {
            return method.invoke(answers, arguments);
          }
          Object answer = answers.get(method.getName());
          return answer != null || !method.isDefault()
              ? answer
              : InvocationHandler.invokeDefault(proxy, method, arguments);
        };
    context.registerBean(
        type,
        () ->
            type.cast(
                Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler)));
  }
}
