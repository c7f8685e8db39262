package dev.outbox.publisher.rabbitmq;

import java.util.Map;

/**
 * A queue whose process in the broker stands still, while the broker goes on: it confirms nothing,
 * as a quorum queue that has lost its majority.
 */
record SuspendedQueue(String name) implements AutoCloseable {

  static SuspendedQueue make() {
    String name = TestRabbit.name();
    var unused = TestRabbit.with(c -> c.queueDeclare(name, true, false, false, Map.of()));
    SuspendedQueue queue = new SuspendedQueue(name);
    queue.tell("suspend");
    return queue;
  }

  private void tell(String what) {
    String unused =
        TestRabbit.embedded()
            .control(
                "eval",
                """
                {ok, Q} = rabbit_amqqueue:lookup(rabbit_misc:r(<<"/">>, queue, <<"%s">>)),
                sys:%s(amqqueue:get_pid(Q), infinity).
                """
                    .formatted(name, what));
  }

  /** Lets it go on. */
  @Override
  public void close() {
    tell("resume");
  }
}
