package dev.outbox.spring.modulith;

import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.modulith.events.core.EventPublicationRegistry;

/**
 * Removes Spring Modulith's watch over its registry of publications where there is no registry.
 * Since 2.0 the watch has no condition, and an application whose events all go through the outbox
 * would not start.
 */
final class RegistryWatch implements BeanFactoryPostProcessor {
  static final String NAME =
      "org.springframework.modulith.events.config.StalenessMonitorConfiguration";

  @Override
  public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {
    if (beans instanceof BeanDefinitionRegistry definitions
        && definitions.containsBeanDefinition(NAME)
        && beans.getBeanNamesForType(EventPublicationRegistry.class, true, false).length == 0) {
      definitions.removeBeanDefinition(NAME);
    }
  }
}
