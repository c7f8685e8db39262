package dev.outbox.servlet;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.outbox.inbox.InboxResult;
import jakarta.servlet.http.HttpServletResponse;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The answer to a request, as an inbox keeps it: status, headers and body, each text with its
 * length.
 *
 * @param body null: it was too large
 */
record Answer(int status, List<Field> fields, byte @Nullable [] body) {

  /** The most bytes of a body: what is left of a result beside {@link #MAX_HEAD}. */
  static final int MAX_BODY = 900_000;

  private static final int MAX_HEAD = InboxResult.MAX_CONTENT - MAX_BODY;
  private static final String TYPE = "application/vnd.outbox.answer";

  /** A header. */
  record Field(String name, String value) {}

  /** An answer whose headers are too large is kept without them and without its body. */
  InboxResult result() {
    byte[] whole = bytes(fields, body);
    int head = whole.length - (body == null ? 0 : body.length);
    return InboxResult.of(head <= MAX_HEAD ? whole : bytes(List.of(), null), TYPE);
  }

  private byte[] bytes(List<Field> fields, byte @Nullable [] body) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeInt(status);
      out.writeInt(fields.size());
      for (Field field : fields) {
        write(out, field.name());
        write(out, field.value());
      }
      out.writeBoolean(body != null);
      if (body != null) {
        out.write(body);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  static void write(DataOutputStream out, String text) throws IOException {
    byte[] bytes = text.getBytes(UTF_8);
    out.writeInt(bytes.length);
    out.write(bytes);
  }

  /** What {@link #result} made. */
  static Answer of(InboxResult result) {
    if (!TYPE.equals(result.contentType())) { // recorded by somebody else
      return new Answer(HttpServletResponse.SC_OK, List.of(), null);
    }
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(result.content()))) {
      int status = in.readInt();
      List<Field> fields = new ArrayList<>();
      for (int i = in.readInt(); i > 0; i--) {
        fields.add(new Field(read(in), read(in)));
      }
      return new Answer(status, fields, in.readBoolean() ? in.readAllBytes() : null);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String read(DataInputStream in) throws IOException {
    return new String(in.readNBytes(in.readInt()), UTF_8);
  }

  void send(HttpServletResponse response) throws IOException {
    response.setStatus(status);
    for (Field field : fields) {
      if (field.name().equalsIgnoreCase("Content-Type")) {
        response.setContentType(field.value());
      } else {
        response.addHeader(field.name(), field.value());
      }
    }
    if (body != null) {
      response.setContentLength(body.length);
      response.getOutputStream().write(body);
    }
  }
}
