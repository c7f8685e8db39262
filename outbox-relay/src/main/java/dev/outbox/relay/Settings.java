package dev.outbox.relay;

import dev.outbox.Texts;
import dev.outbox.publisher.core.TimeLimits;
import dev.outbox.spi.store.Claim;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.concurrent.ThreadLocalRandom;

/** The checked numbers of a relay. */
record Settings(
    String name,
    int workers,
    int batchSize,
    long batchBytes,
    Duration lease,
    Duration publishTimeout,
    Duration idlePause,
    Duration stopTimeout) {

  private static final int MAX_NAME = 200;
  private static final Duration MAX_TIME = Duration.ofDays(1);

  Settings {
    if (name.isBlank() || name.length() > MAX_NAME) {
      throw new IllegalArgumentException(
          "name has %s characters, allowed is from 1 to %s, not all blank: give a short one"
              .formatted(name.length(), MAX_NAME));
    }
    between("workers", workers, 1, 1_000);
    between("batchSize", batchSize, 1, 100_000);
    between("batchBytes", batchBytes, 1, Integer.MAX_VALUE);
    TimeLimits.check("lease", lease, Duration.ofMillis(100), MAX_TIME);
    TimeLimits.check("publishTimeout", publishTimeout, Duration.ofMillis(1), MAX_TIME);
    if (publishTimeout.compareTo(lease) >= 0) {
      throw new IllegalArgumentException(
          "publishTimeout is %s, it must be below the lease, which is %s: shorten it or lengthen the lease"
              .formatted(Texts.time(publishTimeout), Texts.time(lease)));
    }
    TimeLimits.check("idlePause", idlePause, Duration.ofMillis(1), MAX_TIME);
    TimeLimits.check("stopTimeout", stopTimeout, Duration.ofMillis(1), MAX_TIME);
  }

  /** Each worker uses a connection, and housekeeping one more. */
  void checkPool(int connections) {
    if (connections < workers + 1) {
      throw new IllegalArgumentException(
          "the store has at most %s connections, %s workers need %s: enlarge its pool or use fewer workers"
              .formatted(connections, workers, workers + 1));
    }
  }

  static String defaultName() {
    String host;
    try {
      host = InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      host = "unknown";
    }
    short random = (short) ThreadLocalRandom.current().nextInt();
    return "%.100s-%s-%s"
        .formatted(host, ProcessHandle.current().pid(), HexFormat.of().toHexDigits(random));
  }

  Claim.Request request(String worker, int most) {
    return new Claim.Request(worker, most, batchBytes, lease);
  }

  static long between(String setting, long value, long least, long most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          "%s is %s, allowed is from %s to %s".formatted(setting, value, least, most));
    }
    return value;
  }
}
