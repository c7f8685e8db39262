package dev.outbox.servlet;

import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Holds back an answer's body, up to a limit; beyond it, all that there is and comes is sent.
 * Status and headers are set on the container's response at once, which is not committed before.
 */
final class KeptResponse extends HttpServletResponseWrapper {
  private final int max;
  private final Out out = new Out();
  private @Nullable PrintWriter writer;
  private @Nullable String encoding;
  private boolean streamed;
  private boolean error;
  private boolean cutOff;
  private boolean discarding;

  /** Null: it has become too large, and is sent as it comes. */
  private @Nullable ByteArrayOutputStream held = new ByteArrayOutputStream();

  KeptResponse(HttpServletResponse response, int max) {
    super(response);
    this.max = max;
  }

  /** Whether the container writes the answer, as an error's page. */
  boolean isError() {
    return error;
  }

  /** Whether the client has gone, in the middle of an answer that is sent as it comes. */
  boolean isCutOff() {
    return cutOff;
  }

  /** The answer to keep, once it is whole or will not be completed. */
  Answer answer(List<String> names) {
    flushWriter();
    List<Answer.Field> fields = new ArrayList<>();
    for (String name : names) {
      if (name.equalsIgnoreCase("Content-Type")) {
        if (getContentType() != null) { // not a header to all containers before it is sent
          fields.add(new Answer.Field(name, getContentType()));
        }
      } else {
        getHeaders(name).forEach(value -> fields.add(new Answer.Field(name, value)));
      }
    }
    return new Answer(getStatus(), fields, held == null ? null : held.toByteArray());
  }

  /** Sends what is held back. */
  void send() throws IOException {
    flushWriter();
    ByteArrayOutputStream body = held;
    if (body != null) {
      held = null;
      if (body.size() > 0) {
        super.getOutputStream().write(body.toByteArray());
      }
    }
  }

  private void flushWriter() {
    keepEncoding();
    if (writer != null) {
      writer.flush();
    }
  }

  /** What is set after {@link #getWriter} has no effect: the text is in the encoding before it. */
  private void keepEncoding() {
    if (writer != null) {
      setCharacterEncoding(encoding);
    }
  }

  private void write(byte[] bytes, int offset, int length) throws IOException {
    if (discarding) {
      return;
    }
    ByteArrayOutputStream body = held;
    if (body != null && length <= max - body.size()) {
      body.write(bytes, offset, length);
      return;
    }
    held = null;
    keepEncoding();
    toClient(
        out -> {
          if (body != null) {
            out.write(body.toByteArray());
          }
          out.write(bytes, offset, length);
        });
  }

  /** What is sent as it comes. */
  private interface Sending {
    void to(ServletOutputStream out) throws IOException;
  }

  private void toClient(Sending sending) throws IOException {
    try {
      sending.to(super.getOutputStream());
    } catch (IOException e) {
      cutOff = true;
      throw e;
    }
  }

  @Override
  public ServletOutputStream getOutputStream() {
    if (writer != null) {
      throw new IllegalStateException("getWriter was called before");
    }
    streamed = true;
    return out;
  }

  @Override
  public PrintWriter getWriter() throws IOException {
    if (writer == null) {
      if (streamed) {
        throw new IllegalStateException("getOutputStream was called before");
      }
      encoding = getCharacterEncoding();
      writer = new PrintWriter(new OutputStreamWriter(out, encoding));
      keepEncoding(); // so that the content type says it
    }
    return writer;
  }

  @Override
  public void flushBuffer() throws IOException {
    flushWriter();
    if (held == null) {
      toClient(out -> super.flushBuffer());
    }
  }

  /** Clears the body; the writer or stream that was handed out stays usable. */
  @Override
  public void resetBuffer() {
    super.resetBuffer(); // refuses when it is too late
    held = new ByteArrayOutputStream();
    discarding = true;
    flushWriter(); // of what was written before
    discarding = false;
  }

  @Override
  public void reset() {
    super.reset();
    held = new ByteArrayOutputStream();
    writer = null;
    streamed = false;
  }

  /** A header at once: Tomcat makes one only when it sends the answer, which is kept before. */
  @Override
  public void setLocale(@Nullable Locale locale) {
    super.setLocale(locale);
    setHeader("Content-Language", locale == null ? null : locale.toLanguageTag());
  }

  @Override
  public void sendError(int status) throws IOException {
    error = true;
    super.sendError(status);
  }

  @Override
  public void sendError(int status, String message) throws IOException {
    error = true;
    super.sendError(status, message);
  }

  @Override
  public void sendRedirect(String location) {
    sendRedirect(location, SC_FOUND, true);
  }

  /** Since Servlet 6.1. The container's own would send the answer at once. */
  @Override
  public void sendRedirect(String location, int status, boolean clearBuffer) {
    if (clearBuffer) {
      resetBuffer();
    }
    setStatus(status);
    setHeader("Location", location);
  }

  private final class Out extends ServletOutputStream {
    @Override
    public void write(int b) throws IOException {
      KeptResponse.this.write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      KeptResponse.this.write(bytes, offset, length);
    }

    @Override
    public void flush() throws IOException {
      if (held == null) {
        toClient(ServletOutputStream::flush);
      }
    }

    @Override
    public boolean isReady() {
      return true;
    }

    @Override
    public void setWriteListener(WriteListener listener) {
      throw new IllegalStateException("the request is not asynchronous");
    }
  }
}
