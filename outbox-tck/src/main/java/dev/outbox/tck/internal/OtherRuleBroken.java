package dev.outbox.tck.internal;

import org.opentest4j.TestAbortedException;

/** Another rule is broken than that of the test. */
public final class OtherRuleBroken extends TestAbortedException {
  private static final long serialVersionUID = 1L;
  private final String rule;

  public OtherRuleBroken(String rule, Throwable cause) {
    super(cause.getMessage(), cause);
    this.rule = rule;
  }

  String rule() {
    return rule;
  }
}
