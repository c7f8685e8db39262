package dev.outbox.store.postgres;

import java.io.FilterInputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.SocketFactory;

/** Counts how often a driver sends something and then waits for an answer. */
public final class RoundTrips extends SocketFactory {
  private static final AtomicInteger COUNT = new AtomicInteger();

  /** Called by the driver. */
  public RoundTrips() {}

  static int during(Runnable work) {
    int before = COUNT.get();
    work.run();
    return COUNT.get() - before;
  }

  @Override
  public Socket createSocket() {
    return new CountingSocket();
  }

  @Override
  public Socket createSocket(String host, int port) {
    throw new UnsupportedOperationException();
  }

  @Override
  public Socket createSocket(String host, int port, InetAddress local, int localPort) {
    throw new UnsupportedOperationException();
  }

  @Override
  public Socket createSocket(InetAddress host, int port) {
    throw new UnsupportedOperationException();
  }

  @Override
  public Socket createSocket(InetAddress host, int port, InetAddress local, int localPort) {
    throw new UnsupportedOperationException();
  }

  private static final class CountingSocket extends Socket {
    private volatile boolean sent;

    @Override
    public OutputStream getOutputStream() throws IOException {
      return new FilterOutputStream(super.getOutputStream()) {
        @Override
        public void write(byte[] bytes, int from, int length) throws IOException {
          sent = true;
          out.write(bytes, from, length);
        }
      };
    }

    @Override
    public InputStream getInputStream() throws IOException {
      return new FilterInputStream(super.getInputStream()) {
        @Override
        public int read(byte[] bytes, int from, int length) throws IOException {
          if (sent) {
            sent = false;
            COUNT.incrementAndGet();
          }
          return super.read(bytes, from, length);
        }
      };
    }
  }
}
