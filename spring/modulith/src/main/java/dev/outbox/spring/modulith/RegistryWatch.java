package dev.outbox.spring.modulith;

import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.modulith.events.core.EventPublicationRegistry;

/**
 * Takes out Spring Modulith's watch over its registry of publications where there is no registry:
 * since 2.0 it is there without a condition, and would keep an application from starting whose
 * events all go through the outbox.
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
