package dev.outbox.dev.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Archive;
import dev.outbox.cli.Address;
import dev.outbox.dev.broker.Broker;
import dev.outbox.dev.database.Place;
import dev.outbox.dev.database.StoreKind;
import dev.outbox.dev.torture.Fleet.Member;
import dev.outbox.dev.torture.Fleet.Role;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** With servers that are away. */
class FleetTest {

  @Test
  @DisplayName("a process that has ended when all are to pause is told of, and another pauses")
  void pause(@TempDir Path directory) throws Exception {
    Map<String, String> settings =
        new HashMap<>(
            Place.settings(new Address("jdbc:postgresql://127.0.0.1:1/x", "nobody", "none")));
    settings.put("database", StoreKind.POSTGRES.name());
    settings.put("archive", Archive.NONE.name());
    settings.put("broker", Broker.Kind.KAFKA.name());
    settings.put("broker-address", "127.0.0.1:1");
    settings.put("broker-name", "");
    settings.put("directory", directory.toString());
    settings.put("keys", "1");
    try (Fleet fleet = new Fleet(settings, directory, new Clocks(directory), 1)) {
      fleet.launch(0);
      Member member = fleet.pick(0, Role.PRODUCER).orElseThrow();
      String ended = member.name;
      member.jvm.close();
      assertThat(fleet.pause())
          .singleElement()
          .asString()
          .startsWith(ended + " did not pause: the child has ended");
      assertThat(fleet.replaceEnded()).isEmpty();
    }
  }
}
