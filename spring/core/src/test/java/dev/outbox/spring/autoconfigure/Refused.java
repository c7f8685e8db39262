package dev.outbox.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** An application that does not start. */
final class Refused {
  private Refused() {}

  /** Asserts that it says what is wrong and what to do. */
  static void refused(ApplicationContextRunner runner, String problem, String action) {
    runner.run(
        context -> {
          assertThat(context).hasFailed();
          Throwable cause = context.getStartupFailure();
          while (!(cause instanceof OutboxConfigurationException)) {
            cause = cause.getCause();
          }
          assertThat(cause).hasMessageContaining(problem);
          assertThat(((OutboxConfigurationException) cause).action()).contains(action);
        });
  }
}
