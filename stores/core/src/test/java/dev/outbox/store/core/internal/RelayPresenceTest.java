package dev.outbox.store.core.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.TransientOutboxException;
import dev.outbox.store.core.internal.Database.Gone;
import dev.outbox.store.core.internal.Database.Sessions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A relay that shows that it lives")
class RelayPresenceTest {
  private static final Gone ONE = new Gone(1, 7);
  private static final Gone SAME_BUCKET_TAKEN_AGAIN = new Gone(1, 8);
  private static final Gone OTHER = new Gone(2, 3);

  private final ClaimIds ids = new ClaimIds();
  private final Server server = new Server();
  private final List<Duration> looks = new ArrayList<>();
  private final RelayPresence<String> presence =
      new RelayPresence<>(server, server, ids, () -> server.clock, this::sleep);

  /** What is done, and when it has to be over. */
  private Runnable meanwhile = () -> {};

  private Duration until = Duration.ofSeconds(30);

  private void sleep(Duration pause) throws InterruptedException {
    server.clock += pause.toNanos();
    meanwhile.run();
    if (server.clock >= until.toNanos()) {
      throw new InterruptedException();
    }
  }

  /** A server that says what it is told to say. */
  private final class Server implements Transactions<String>, Sessions<String> {
    private long clock;
    private boolean hasSessions = true;
    private boolean pooled;
    private boolean endsSession;
    private int open;
    private int left;
    private int abandoned;
    private List<Gone> gone = List.of();
    private final List<Gone> ended = new ArrayList<>();

    @Override
    public <R extends @Nullable Object> R run(Duration patience, Work<String, R> work) {
      return work.in("");
    }

    @Override
    public @Nullable Transactions<String> ofOneSession() {
      if (hasSessions) {
        open++;
        return this;
      }
      return null;
    }

    @Override
    public void close() {
      open--;
    }

    @Override
    public boolean begin(String handle, int relay) {
      assertThat(relay).isEqualTo(ids.relay());
      return !pooled;
    }

    @Override
    public void leave(String handle, int relay) {
      assertThat(relay).isEqualTo(ids.relay());
      left++;
    }

    @Override
    public void abandon() {
      assertThat(open).as("sessions that are still open").isEqualTo(1);
      abandoned++;
    }

    @Override
    public void check(String handle) {
      if (endsSession) {
        endsSession = false;
        throw new TransientOutboxException("an administrator ended the session", null);
      }
    }

    @Override
    public List<Gone> gone(String handle, int relay) {
      looks.add(Duration.ofNanos(clock));
      return gone;
    }

    @Override
    public void end(String handle, Collection<Gone> leases) {
      ended.addAll(leases);
      gone = List.of();
    }
  }

  private void show() {
    assertThatThrownBy(() -> presence.show(() -> {})).isInstanceOf(InterruptedException.class);
    assertThat(server.open).as("sessions that are still open").isZero();
    assertThat(server.left).isEqualTo(1);
  }

  @Test
  @DisplayName("says so in its claim ids, as long as it does")
  void claimIds() {
    List<UUID> meanwhileIds = new ArrayList<>();
    meanwhile = () -> meanwhileIds.add(ids.next());
    UUID before = ids.next();
    show();
    assertThat(before.version()).isEqualTo(4);
    assertThat(meanwhileIds)
        .doesNotHaveDuplicates()
        .allSatisfy(
            id -> {
              assertThat(id.version()).isEqualTo(8);
              assertThat(id.variant()).isEqualTo(2);
              assertThat((int) id.getLeastSignificantBits()).isEqualTo(ids.relay());
            });
    assertThat(ids.next().version()).isEqualTo(4);
  }

  @Test
  @DisplayName("ends what a relay holds that was missed in two looks, soon after one another")
  void twice() {
    server.gone = List.of(ONE, OTHER);
    show();
    assertThat(server.ended).containsExactly(ONE, OTHER);
    assertThat(looks.get(1).minus(looks.get(0))).isEqualTo(RelayPresence.SECOND_LOOK);
  }

  @Test
  @DisplayName("ends nothing that was missed in one look only")
  void once() {
    server.gone = List.of(ONE);
    meanwhile = () -> server.gone = looks.size() % 2 == 0 ? List.of(ONE) : List.of();
    show();
    assertThat(server.ended).isEmpty();
    assertThat(looks).hasSizeGreaterThan(10);
  }

  @Test
  @DisplayName("ends nothing that was taken again between two looks")
  void takenAgain() {
    until = Duration.ofSeconds(1);
    server.gone = List.of(ONE);
    meanwhile = () -> server.gone = List.of(SAME_BUCKET_TAKEN_AGAIN);
    show();
    assertThat(looks).hasSizeGreaterThanOrEqualTo(2);
    assertThat(server.ended)
        .isEqualTo(looks.size() > 2 ? List.of(SAME_BUCKET_TAKEN_AGAIN) : List.of());
  }

  @Test
  @DisplayName("looks about once a second")
  void looks() {
    show();
    assertThat(looks).hasSizeBetween(25, 35);
  }

  @Test
  @DisplayName("ends nothing for some seconds after its session was lost, as in a failover")
  void failover() throws InterruptedException {
    server.endsSession = true;
    assertThatThrownBy(() -> presence.show(() -> {})).isInstanceOf(TransientOutboxException.class);
    assertThat(server.open).as("sessions that are still open").isZero();
    assertThat(server.abandoned).isEqualTo(1);
    looks.clear();
    long lost = server.clock;
    server.gone = List.of(ONE);
    show();
    assertThat(looks.get(0).minusNanos(lost))
        .isGreaterThanOrEqualTo(RelayPresence.OTHERS_COME_BACK);
    assertThat(server.ended).containsExactly(ONE);
  }

  @Test
  @DisplayName("does not, where there are no sessions, or none that stays with its client")
  void without() throws InterruptedException {
    server.hasSessions = false;
    presence.show(() -> {});
    server.hasSessions = true;
    server.pooled = true;
    presence.show(() -> {});
    assertThat(server.open).as("sessions that are still open").isZero();
    assertThat(looks).isEmpty();
    assertThat(ids.next().version()).isEqualTo(4);
  }
}
