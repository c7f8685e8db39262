package dev.outbox.spi.store;

import java.util.List;

/** A store that sees what will make it slow or stop it: for people and dashboards. */
public interface WarningStore {

  /** One sentence each, which names the thing, says what comes of it and what to do; or none. */
  List<String> warnings();
}
