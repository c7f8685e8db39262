package dev.outbox.tck.internal;

import org.opentest4j.TestAbortedException;

/** A test that runs when an interface is implemented. */
public final class NotUnlocked extends TestAbortedException {
  private static final long serialVersionUID = 1L;
  private final String who;
  private final String ability;

  /**
   * @param who as "the test class"
   * @param ability the interface's name, as authors write it
   */
  public NotUnlocked(String who, String ability) {
    super("skipped: runs when %s implements %s".formatted(who, ability));
    this.who = who;
    this.ability = ability;
  }

  String who() {
    return who;
  }

  String ability() {
    return ability;
  }
}
