package dev.outbox.embedded;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;

/** TCP ports of 127.0.0.1. */
public final class Ports {
  private Ports() {}

  /**
   * A port that was free a moment ago. It lies below those that systems give to outgoing
   * connections: a client that keeps trying to reach a stopped server could otherwise be given the
   * server's own port, and connect to itself.
   */
  public static int free() {
    for (int i = 0; i < 1_000; i++) {
      int port = ThreadLocalRandom.current().nextInt(15_000, 32_000);
      try (ServerSocket socket = new ServerSocket()) {
        socket.setReuseAddress(true);
        socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        return port;
      } catch (IOException e) {
        // taken: try another
      }
    }
    throw new IllegalStateException("no free port between 15000 and 32000 on 127.0.0.1");
  }

  /** So many different ones of {@link #free()}. */
  static List<Integer> free(int count) {
    return Stream.generate(Ports::free).distinct().limit(count).toList();
  }

  /** Whether something listens there. */
  static boolean isOpen(int port) {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 200);
      return true;
    } catch (IOException e) {
      return false;
    }
  }
}
