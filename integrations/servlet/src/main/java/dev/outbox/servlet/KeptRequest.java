package dev.outbox.servlet;

import dev.outbox.inbox.Fingerprint;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A request whose body was read for its fingerprint, and can be read once more. */
final class KeptRequest extends HttpServletRequestWrapper {
  private final byte @Nullable [] body;
  private final Fingerprint fingerprint;
  private @Nullable ServletInputStream stream;
  private @Nullable BufferedReader reader;

  /**
   * @param body null: the container has it
   * @param parameters of a form
   */
  private KeptRequest(
      HttpServletRequest request, byte @Nullable [] body, Map<String, String[]> parameters) {
    super(request);
    this.body = body;
    this.fingerprint = Fingerprint.of(head(request, parameters), body == null ? new byte[0] : body);
  }

  /** Null when the body has more bytes. */
  static @Nullable KeptRequest read(HttpServletRequest request, int max) throws IOException {
    if (request.getContentLengthLong() > max) {
      return null;
    }
    String type = String.valueOf(request.getContentType()).toLowerCase(Locale.ROOT);
    if (type.startsWith("multipart/")) {
      return new KeptRequest(request, null, Map.of());
    }
    // Who asks for parameters makes the container read a form, if it does so with this method: all
    // do with POST, few with others. Then nothing is left of the body, else all of it.
    Map<String, String[]> parameters =
        type.startsWith("application/x-www-form-urlencoded") ? request.getParameterMap() : Map.of();
    byte[] body = request.getInputStream().readNBytes(max == Integer.MAX_VALUE ? max : max + 1);
    return body.length > max ? null : new KeptRequest(request, body, parameters);
  }

  /** Whether the body was read to its end: it has at most so many bytes. */
  static boolean skipBody(HttpServletRequest request, int max) throws IOException {
    return request.getContentLengthLong() <= max && request.getInputStream().skip(max + 1L) <= max;
  }

  /** Each text with its length, so that no two requests are written the same. */
  private static byte[] head(HttpServletRequest request, Map<String, String[]> parameters) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      Answer.write(out, request.getMethod());
      Answer.write(out, request.getServerName());
      Answer.write(out, request.getRequestURI());
      String query = request.getQueryString();
      Answer.write(out, query == null ? "" : "?" + query);
      out.writeInt(parameters.size());
      for (Map.Entry<String, String[]> entry : new TreeMap<>(parameters).entrySet()) {
        Answer.write(out, entry.getKey());
        out.writeInt(entry.getValue().length);
        for (String value : entry.getValue()) {
          Answer.write(out, value);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  Fingerprint fingerprint() {
    return fingerprint;
  }

  @Override
  public ServletInputStream getInputStream() throws IOException {
    if (body == null) {
      return super.getInputStream();
    }
    if (stream == null) {
      stream = new Bytes(body);
    }
    return stream;
  }

  @Override
  public BufferedReader getReader() throws IOException {
    if (body == null) {
      return super.getReader();
    }
    if (reader == null) {
      String encoding = getCharacterEncoding();
      reader =
          new BufferedReader(
              new InputStreamReader(
                  getInputStream(),
                  encoding == null ? "ISO-8859-1" : encoding)); // as containers do
    }
    return reader;
  }

  @Override
  public boolean isAsyncSupported() {
    return false;
  }

  @Override
  public AsyncContext startAsync() {
    throw new IllegalStateException(
        "a request with an Idempotency-Key is not handled asynchronously: its answer is kept when the servlet returns");
  }

  @Override
  public AsyncContext startAsync(ServletRequest request, ServletResponse response) {
    return startAsync();
  }

  private static final class Bytes extends ServletInputStream {
    private final ByteArrayInputStream in;

    Bytes(byte[] bytes) {
      in = new ByteArrayInputStream(bytes);
    }

    @Override
    public int read() {
      return in.read();
    }

    @Override
    public int read(byte[] bytes, int offset, int length) {
      return in.read(bytes, offset, length);
    }

    @Override
    public int available() {
      return in.available();
    }

    @Override
    public boolean isFinished() {
      return in.available() == 0;
    }

    @Override
    public boolean isReady() {
      return true;
    }

    @Override
    public void setReadListener(ReadListener listener) {
      throw new IllegalStateException("the request is not asynchronous");
    }
  }
}
