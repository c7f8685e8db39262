package dev.outbox.cli;

import java.io.IOException;
import java.net.CookieManager;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;

/** Follows redirects, and keeps cookies. */
final class Browser {
  private final HttpClient client =
      HttpClient.newBuilder()
          .followRedirects(HttpClient.Redirect.NORMAL)
          .cookieHandler(new CookieManager())
          .build();

  HttpResponse<String> get(URI address) {
    try {
      return client.send(HttpRequest.newBuilder(address).build(), BodyHandlers.ofString());
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
