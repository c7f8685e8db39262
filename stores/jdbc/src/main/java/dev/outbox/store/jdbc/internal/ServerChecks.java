package dev.outbox.store.jdbc.internal;

import static java.util.Objects.requireNonNull;

import dev.outbox.spi.store.Finding;
import dev.outbox.spi.store.Finding.Severity;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jdbi.v3.core.Handle;

/**
 * The server's settings that an outbox depends on, and its clock.
 *
 * @param wrong a query of name and value of each setting that is not as it should be
 * @param clock a query of the server's time, in milliseconds since 1970
 */
public record ServerChecks(String wrong, String clock, Map<String, Setting> settings) {
  /** With clocks that are kept by NTP it is less, and an answer takes less. */
  private static final Duration MOST_APART = Duration.ofSeconds(2);

  /**
   * What to say of a setting.
   *
   * @param otherwise what comes of it when it is wrong
   * @param remedy what to type, with {@code %s} for the setting's name
   */
  public record Setting(Severity severity, String otherwise, String remedy) {}

  public List<Finding> findings(Handle handle) {
    List<Finding> found =
        handle
            .createQuery(wrong)
            .map((row, context) -> finding(row.getString(1), row.getString(2)))
            .list();
    Instant now = Instant.ofEpochMilli(handle.createQuery(clock).mapTo(Long.class).one());
    return Stream.concat(
            Finding.orFine("settings", found).stream(),
            Stream.of(clock(Duration.between(now, Instant.now()))))
        .toList();
  }

  private Finding finding(String name, String value) {
    Setting setting = requireNonNull(settings.get(name));
    return new Finding(
        "settings",
        setting.severity(),
        "%s is %s: %s".formatted(name, value, setting.otherwise()),
        setting.remedy().formatted(name));
  }

  private static Finding clock(Duration behind) {
    return behind.abs().compareTo(MOST_APART) <= 0
        ? Finding.fine("clock", "fine")
        : Finding.warning(
            "clock",
            "the server's clock is %s s %s this machine's: leases and delays go by the server's, and what metrics and logs say of ages is wrong by as much"
                .formatted(behind.abs().toSeconds(), behind.isNegative() ? "ahead of" : "behind"),
            "timedatectl set-ntp true, on both machines");
  }
}
