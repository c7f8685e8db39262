package dev.outbox.spring.test;

import org.springframework.test.context.TestContext;
import org.springframework.test.context.TestExecutionListener;

/** Contexts outlive test methods and test classes; what was recorded for one of them must not. */
final class ForgetBeforeEachTest implements TestExecutionListener {

  @Override
  public void beforeTestMethod(TestContext test) {
    if (test.hasApplicationContext()) {
      test.getApplicationContext()
          .getBeanProvider(Forgotten.class)
          .forEach(forgotten -> forgotten.forget().run());
    }
  }
}
