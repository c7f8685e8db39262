package dev.outbox.spring.autoconfigure;

import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.autoconfigure.AutoConfigurationImportFilter;
import org.springframework.boot.autoconfigure.AutoConfigurationMetadata;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.EnvironmentAware;
import org.springframework.context.ResourceLoaderAware;
import org.springframework.core.env.Environment;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.io.DefaultResourceLoader;
import org.springframework.core.io.ResourceLoader;

/**
 * Keeps Boot 3's own Liquibase out of applications that have Liquibase only for the outbox. It
 * would run as soon as {@code liquibase-core} is there, and an application without a changelog
 * would not start. Whoever sets {@code spring.liquibase.enabled} or {@code change-log}, or has the
 * default changelog, keeps it. In Boot 4 it is a module of its own, which nobody has by accident.
 */
final class LiquibaseWithoutChangelog
    implements AutoConfigurationImportFilter, EnvironmentAware, ResourceLoaderAware {
  private static final Logger log = LoggerFactory.getLogger(LiquibaseWithoutChangelog.class);

  private static final Set<String> BOOTS =
      Set.of(
          "org.springframework.boot.autoconfigure.liquibase.LiquibaseAutoConfiguration",
          "org.springframework.boot.liquibase.autoconfigure.LiquibaseAutoConfiguration");
  private static final String CHANGELOG = "classpath:/db/changelog/db.changelog-master.yaml";
  private static final Set<String> PROPERTIES =
      Set.of("spring.liquibase.enabled", "spring.liquibase.change-log");

  private Environment environment = new StandardEnvironment();
  private ResourceLoader resources = new DefaultResourceLoader();

  @Override
  public void setEnvironment(Environment environment) {
    this.environment = environment;
  }

  @Override
  public void setResourceLoader(ResourceLoader resources) {
    this.resources = resources;
  }

  @Override
  public boolean[] match(
      @Nullable String[] autoConfigurations, AutoConfigurationMetadata metadata) {
    boolean[] kept = new boolean[autoConfigurations.length];
    for (int i = 0; i < kept.length; i++) {
      String name = autoConfigurations[i]; // null when another filter took it
      kept[i] = name == null || !BOOTS.contains(name) || isWanted();
    }
    return kept;
  }

  private boolean isWanted() {
    Binder binder = Binder.get(environment);
    boolean wanted =
        PROPERTIES.stream().anyMatch(name -> binder.bind(name, Bindable.of(String.class)).isBound())
            || resources.getResource(CHANGELOG).exists();
    if (!wanted) {
      log.info(
          "Boot's own Liquibase is off: there is no {} and no property spring.liquibase.change-log",
          CHANGELOG);
    }
    return wanted;
  }
}
