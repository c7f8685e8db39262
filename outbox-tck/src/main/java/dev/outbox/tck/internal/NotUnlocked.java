package dev.outbox.tck.internal;

import org.opentest4j.TestAbortedException;

/** A test that runs when an interface is implemented. */
public final class NotUnlocked extends TestAbortedException {
  private static final long serialVersionUID = 1L;
  private final String who;
  private final String ability;

  /**
   * @param who as "the test class"
   */
  public NotUnlocked(String who, Class<?> ability) {
    super("skipped: runs when %s implements %s".formatted(who, name(ability)));
    this.who = who;
    this.ability = name(ability);
  }

  private static String name(Class<?> ability) {
    Class<?> outer = ability.getEnclosingClass();
    return (outer == null ? "" : outer.getSimpleName() + ".") + ability.getSimpleName();
  }

  String who() {
    return who;
  }

  String ability() {
    return ability;
  }
}
