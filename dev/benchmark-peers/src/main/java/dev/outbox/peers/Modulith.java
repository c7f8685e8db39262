package dev.outbox.peers;

import java.time.Clock;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.TaskExecutor;
import org.springframework.modulith.events.EventExternalizationConfiguration;
import org.springframework.modulith.events.FailedEventPublications;
import org.springframework.modulith.events.IncompleteEventPublications;
import org.springframework.modulith.events.ResubmissionOptions;
import org.springframework.modulith.events.support.EventExternalizerModuleListener;

/**
 * Spring Modulith's event publication registry on JDBC, with events that are externalized. After
 * the commit a thread of a pool hands the event over; nothing polls. What was not published before
 * an application ended, or failed, has to be submitted again by the application.
 */
record Modulith(String name, String setting, Map<String, Object> properties) implements Contender {
  static final String PUBLICATION =
      "org.springframework.modulith.events.config.EventPublicationAutoConfiguration";
  static final String EXTERNALIZATION =
      "org.springframework.modulith.events.config.EventExternalizationAutoConfiguration";
  static final String JDBC =
      "org.springframework.modulith.events.jdbc.JdbcEventPublicationAutoConfiguration";

  static Modulith defaults() {
    return new Modulith(
        "modulith", "all defaults: 8 threads, completed publications stay", Map.of());
  }

  static Modulith tuned() {
    return new Modulith(
        "modulith, tuned",
        "completion-mode=delete",
        Map.of("spring.modulith.events.completion-mode", "delete"));
  }

  @Override
  public String what() {
    return "spring-modulith-starter-jdbc %s, %s".formatted(Versions.of("modulith"), setting)
        + "; the application submits a backlog again by IncompleteEventPublications,"
        + " and what failed by FailedEventPublications each second";
  }

  @Override
  public App fill(DataSource dataSource, Clock clock) {
    return new ModulithApp(Ended.class, properties, dataSource, clock, null);
  }

  @Override
  public App run(DataSource dataSource, Recorder recorder) {
    return new ModulithApp(Running.class, properties, dataSource, Clock.systemUTC(), recorder);
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Running {
    /** What the artifacts for brokers define, for ours. */
    @Bean
    EventExternalizerModuleListener externalizer(
        EventExternalizationConfiguration configuration, Recorder recorder) {
      return new EventExternalizerModuleListener(
          configuration,
          (payload, target) -> {
            try {
              recorder.accept((OrderPlaced) payload);
              return CompletableFuture.completedFuture(null);
            } catch (Recorder.Refused e) {
              return CompletableFuture.failedFuture(e);
            }
          });
    }
  }

  /** An application that ends after each commit, before it has published anything. */
  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Ended {
    @Bean
    EventExternalizerModuleListener externalizer(EventExternalizationConfiguration configuration) {
      return new EventExternalizerModuleListener(
          configuration, (payload, target) -> CompletableFuture.completedFuture(null));
    }

    @Bean
    TaskExecutor applicationTaskExecutor() {
      return task -> {};
    }
  }

  private static final class ModulithApp extends App {
    private final @Nullable ScheduledExecutorService again;

    ModulithApp(
        Class<?> configuration,
        Map<String, Object> properties,
        DataSource dataSource,
        Clock clock,
        @Nullable Recorder recorder) {
      super(configuration, with(properties), dataSource, clock, recorder);
      again = recorder == null ? null : Executors.newSingleThreadScheduledExecutor();
    }

    private static Map<String, Object> with(Map<String, Object> properties) {
      Map<String, Object> all = new HashMap<>(properties);
      all.put("namastack.outbox.enabled", "false");
      all.put("outbox.enabled", "false");
      return all;
    }

    @Override
    void begin() {
      if (again == null) {
        return;
      }
      FailedEventPublications failed = context.getBean(FailedEventPublications.class);
      again.scheduleWithFixedDelay(
          () -> failed.resubmit(ResubmissionOptions.defaults()), 1, 1, TimeUnit.SECONDS);
    }

    /** All at once, as at a restart; meanwhile nothing that failed is submitted again. */
    @Override
    void submitBacklog() {
      if (again != null) {
        IncompleteEventPublications all = context.getBean(IncompleteEventPublications.class);
        again.execute(() -> all.resubmitIncompletePublications(publication -> true));
      }
    }

    @Override
    void append(OrderPlaced message) {
      context.publishEvent(message);
    }

    @Override
    public void close() {
      if (again != null) {
        again.shutdownNow();
      }
      super.close();
    }
  }
}
