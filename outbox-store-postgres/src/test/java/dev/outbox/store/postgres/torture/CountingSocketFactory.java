package dev.outbox.store.postgres.torture;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.SocketFactory;

/** Sockets that count what they read and call back once when it was much; for one connection. */
public final class CountingSocketFactory extends SocketFactory {
  private static final AtomicLong LEFT = new AtomicLong(Long.MAX_VALUE);
  private static final AtomicLong READ = new AtomicLong();
  private static volatile Runnable callback = () -> {};

  /** The driver makes it by name. */
  public CountingSocketFactory() {}

  /** Calls back when so many more bytes were read. */
  static void after(long bytes, Runnable then) {
    callback = then;
    LEFT.set(bytes);
  }

  static void reset() {
    READ.set(0);
  }

  /** By all sockets since {@link #reset}. */
  static long bytesRead() {
    return READ.get();
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
    @Override
    public InputStream getInputStream() throws IOException {
      return new FilterInputStream(super.getInputStream()) {
        @Override
        public int read(byte[] buffer, int offset, int length) throws IOException {
          int read = super.read(buffer, offset, Math.min(length, 65_536));
          READ.addAndGet(Math.max(0, read));
          long before = LEFT.getAndAdd(-Math.max(0, read));
          if (before > 0 && before <= read) {
            callback.run();
          }
          return read;
        }
      };
    }
  }
}
