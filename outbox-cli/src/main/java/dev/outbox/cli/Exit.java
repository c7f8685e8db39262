package dev.outbox.cli;

/** The program's exit codes; 0 is fine. */
final class Exit {
  static final int CHECK_FAILED = 1;
  static final int NOT_DONE = 2;

  private Exit() {}
}
