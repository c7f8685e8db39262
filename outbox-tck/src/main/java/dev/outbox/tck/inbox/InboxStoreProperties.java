package dev.outbox.tck.inbox;

import dev.outbox.tck.internal.StoryTests;
import dev.outbox.tck.internal.StoryTests.Story;
import java.util.Random;

/**
 * That an inbox behaves as the reference, {@link dev.outbox.store.memory.MemoryInboxStore}, in
 * whatever order things happen: random steps on both, compared after each ({@link InboxStory} says
 * how). What fails is cut down to few steps, and told with the seed. For the test class of an
 * inbox:
 *
 * <pre>{@code
 * class MyInboxTest extends InboxStoreTck<Connection> {
 *   @Nested
 *   class Properties extends InboxStoreProperties<Connection> {}
 * }
 * }</pre>
 *
 * <p>It needs {@code outbox-store-memory}, which is an optional dependency of this artifact. For a
 * long run {@code -Doutbox.properties.tries=2000}, for other stories, or to see a failure again,
 * {@code -Doutbox.properties.seed}.
 *
 * @param <T> the transaction's type
 */
public abstract class InboxStoreProperties<T> extends StoryTests<PatientInbox<T>, InboxStory.Step> {
  @Override
  protected InboxStory.Step step(Random random) {
    return InboxStory.Step.any(random);
  }

  @Override
  protected Story<InboxStory.Step> begin() {
    return new InboxStory<>(tck, seen());
  }
}
