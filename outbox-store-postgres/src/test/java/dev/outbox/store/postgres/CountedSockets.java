package dev.outbox.store.postgres;

import java.io.FilterInputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.SocketFactory;

/** Counts what a driver sends and reads; the driver makes it by name. */
public final class CountedSockets extends SocketFactory {
  private static final ThreadLocal<AtomicInteger> ROUND_TRIPS =
      ThreadLocal.withInitial(AtomicInteger::new);
  private static final AtomicLong READ = new AtomicLong();

  /** Called by the driver. */
  public CountedSockets() {}

  /** How often this thread sent something and then waited for an answer. */
  static int roundTrips(Runnable work) {
    int before = ROUND_TRIPS.get().get();
    work.run();
    return ROUND_TRIPS.get().get() - before;
  }

  /** How many bytes were read. */
  static long bytesRead(Runnable work) {
    long before = READ.get();
    work.run();
    return READ.get() - before;
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
            ROUND_TRIPS.get().incrementAndGet();
          }
          int read = super.read(bytes, from, Math.min(length, 65_536));
          READ.addAndGet(Math.max(0, read));
          return read;
        }
      };
    }
  }
}
