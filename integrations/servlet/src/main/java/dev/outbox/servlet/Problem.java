package dev.outbox.servlet;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.outbox.Texts;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/** Why a request was not handled, as RFC 9457 writes it. */
record Problem(int status, String title, String detail) {

  void send(HttpServletResponse response) throws IOException {
    byte[] body =
        "{\"title\": %s, \"status\": %s, \"detail\": %s}"
            .formatted(Texts.json(title), status, Texts.json(detail))
            .getBytes(UTF_8);
    response.setStatus(status);
    response.setContentType("application/problem+json");
    response.setContentLength(body.length);
    response.getOutputStream().write(body);
  }
}
