/**
 * For authors of publishers. Numbers like P1 in these comments are rules of {@code SPEC.md}. In the
 * order in which one meets the types:
 *
 * <ol>
 *   <li>{@link dev.outbox.spi.publisher.MessagePublisher} gets {@link
 *       dev.outbox.spi.store.StoredMessage}s and gives a {@link dev.outbox.spi.publisher.Result}
 *       for each. That is a whole publisher.
 *   <li>{@link dev.outbox.spi.publisher.PublisherProvider} opens the publisher for the programs.
 * </ol>
 *
 * <p>{@code outbox-publisher-core} has what publishers have in common.
 */
@NullMarked
package dev.outbox.spi.publisher;

import org.jspecify.annotations.NullMarked;
