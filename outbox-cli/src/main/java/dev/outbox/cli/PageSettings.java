package dev.outbox.cli;

import dev.outbox.ui.OutboxPage;
import dev.outbox.ui.PageResponse;
import dev.outbox.ui.PageServer;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Where the operator's page is, health and metrics, and what can be done on the page.
 *
 * @param port 0: any that is free
 * @param token what who asks must have; null: a random one
 */
record PageSettings(String host, int port, boolean allowChanges, @Nullable String token) {
  static final String DEFAULT_HOST = "127.0.0.1";
  static final int DEFAULT_PORT = 8025;

  private static final int MOST_PORT = 65_535;

  /** After so many seconds a request that is not complete is given up, or some could use it up. */
  private static final String MOST_SECONDS = "10";

  /**
   * @throws Failure when there is no such port, or the token cannot be a cookie
   */
  PageSettings {
    if (port < 0 || port > MOST_PORT) {
      throw new Failure("the port is %s, it must be 0 to %s".formatted(port, MOST_PORT));
    }
    if (token != null && !token.matches("[A-Za-z0-9._~+/=-]+")) {
      throw new Failure("ui.token must have only letters, digits and . _ ~ + / = -");
    }
  }

  /**
   * The page.
   *
   * @param person who decides, unless the page is told
   * @throws Failure when that store has no page
   */
  OutboxPage page(Object store, String person) {
    return Failure.whereRefused(
        "",
        () ->
            OutboxPage.builder(store)
                .allowChanges(allowChanges)
                .person(person)
                .mask(Secrets::mask)
                .build());
  }

  /**
   * Begins to serve.
   *
   * @param pages as {@link PageServer#start}
   * @param open as {@link PageServer#start}
   * @throws Failure when it cannot listen there
   */
  PageServer serve(Map<String, OutboxPage> pages, Map<String, Supplier<PageResponse>> open) {
    System.setProperty("sun.net.httpserver.maxReqTime", MOST_SECONDS);
    try {
      return PageServer.start(pages, open, host, port, token);
    } catch (IllegalArgumentException | UncheckedIOException e) {
      throw new Failure(String.valueOf(e.getMessage()), e);
    }
  }

  /** For who lets others reach the page. */
  static final String WARNING =
      "others in the network can reach this page, and read its token on the way: let a proxy with TLS"
          + " stand before it";
}
