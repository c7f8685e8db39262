package dev.outbox.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.outbox.OutboxMessage;
import org.junit.jupiter.api.Test;

class PayloadMemoryTest {
  private static final long MIB = 1 << 20;
  private static final long WANTED = Relay.Builder.DEFAULT_BATCH_BYTES;

  private static PayloadMemory heap(long mib) {
    return new PayloadMemory(mib * MIB);
  }

  @Test
  void aLargeHeapHasRoomForTheDefault() {
    assertThat(heap(4_096).batchBytes(2, WANTED)).isEqualTo(WANTED);
    assertThat(heap(224).batchBytes(2, WANTED)).isEqualTo(WANTED);
    assertThat(heap(223).batchBytes(2, WANTED)).isLessThan(WANTED);
  }

  @Test
  void aSmallOneIsSharedByTheWorkers() {
    assertThat(heap(96).batchBytes(2, WANTED)).isEqualTo(64 * MIB / 12 / 2);
    assertThat(heap(96).batchBytes(1, WANTED)).isEqualTo(64 * MIB / 12);
    assertThat(heap(96).batchBytes(2, WANTED)).isGreaterThan(2L * OutboxMessage.MAX_PAYLOAD);
  }

  @Test
  void oneThatHasNoRoomForLargePayloadsIsRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> heap(64).batchBytes(2, WANTED))
        .withMessage(
            "2 workers need a heap of 78 MiB, this relay has at most 64 MiB: use fewer workers,"
                + " raise -Xmx, or set batchBytes where payloads are small");
    assertThat(heap(78).batchBytes(2, WANTED)).isPositive();
  }

  @Test
  void whatJustFitsIsTaken() {
    long least = 2L * OutboxMessage.MAX_PAYLOAD;
    assertThat(new PayloadMemory(32 * MIB + 12 * 2 * least).batchBytes(2, WANTED)).isEqualTo(least);
    PayloadMemory exact = new PayloadMemory(32 * MIB + 12 * 2 * WANTED);
    exact.check(2, WANTED);
    assertThatIllegalArgumentException().isThrownBy(() -> exact.check(2, WANTED + 1));
  }

  @Test
  void whatSomebodySetIsTakenAsItIsOrRefused() {
    FakePublisher publisher = new FakePublisher();
    Relay.Builder small = Relay.builder(new FaultyStore(), publisher).heap(96 * MIB);
    small.build().close();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> small.batchBytes(WANTED).build())
        .withMessage(
            "2 workers with a batchBytes of 8388608 need a heap of 224 MiB, this relay has at"
                + " most 96 MiB: lower one of the two, or raise -Xmx");
    small.batchBytes(100_000).workers(50).build().close();
  }

  @Test
  void severalRelaysShareWhatPayloadsMayTake() {
    Relay.Builder one = Relay.builder(new FaultyStore(), new FakePublisher()).heap(152 * MIB);
    one.batchBytes(5 * MIB).build().close();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> one.oneOfSeveral("orders", 3).build())
        .withMessageContaining("need a heap of 152 MiB, this relay has at most 72 MiB:");
    one.batchBytes(1_600_000).build().close();
  }
}
