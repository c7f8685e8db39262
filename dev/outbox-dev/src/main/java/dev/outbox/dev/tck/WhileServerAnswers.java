package dev.outbox.dev.tck;

import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Once the server is gone, each test that is left would fail by itself, after all its patience.
 * JUnit finds this class by itself; there is one run of the TCK in a JVM.
 */
public final class WhileServerAnswers implements ExecutionCondition {
  static final String REASON = "the server is gone";

  static volatile boolean gone;

  @Override
  public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
    return gone
        ? ConditionEvaluationResult.disabled(REASON)
        : ConditionEvaluationResult.enabled("the server answers");
  }
}
