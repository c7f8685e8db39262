package dev.outbox.publisher.handler;

import dev.outbox.spi.publisher.Result;
import java.util.Set;

/**
 * Which result an exception of a handler means.
 *
 * @param never what no try helps against
 * @param only the only ones that are tried again; empty: all others
 */
record Failures(Set<Class<? extends Throwable>> never, Set<Class<? extends Throwable>> only) {

  /**
   * @param thrower the handler, for people
   */
  Result result(String thrower, Throwable e) {
    String error = thrower + " threw " + text(e);
    if (e instanceof UnavailableException) {
      return Result.unavailable(error, thrower);
    }
    return isForGood(e) ? Result.rejected(error) : Result.failed(error);
  }

  private boolean isForGood(Throwable e) {
    return e instanceof RejectedException
        || isOneOf(never, e)
        || !only.isEmpty() && !(e instanceof Error) && !isOneOf(only, e);
  }

  private static boolean isOneOf(Set<Class<? extends Throwable>> types, Throwable e) {
    return types.stream().anyMatch(type -> type.isInstance(e));
  }

  /** With the place where it was thrown. The text of an exception may throw itself. */
  private static String text(Throwable e) {
    try {
      StackTraceElement[] places = e.getStackTrace();
      return places.length == 0 ? e.toString() : e + ", at " + places[0];
    } catch (RuntimeException | Error unreadable) {
      return e.getClass().getName();
    }
  }
}
