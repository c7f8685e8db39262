package dev.outbox.example.shop;

import dev.outbox.servlet.IdempotencyFilter;
import dev.outbox.spi.store.InboxStore;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
class HttpConfiguration {

  /** A customer who got no answer sends the order again, with the same Idempotency-Key. */
  @Bean
  FilterRegistrationBean<IdempotencyFilter> ordersOnce(InboxStore<?> inbox) {
    FilterRegistrationBean<IdempotencyFilter> filter =
        new FilterRegistrationBean<>(IdempotencyFilter.builder(inbox, "orders").optional().build());
    filter.addUrlPatterns("/orders/*");
    return filter;
  }
}
