/**
 * For authors of publishers. The rules are in {@code SPEC.md}; numbers like P1 in these comments
 * point there. In the order in which one meets them:
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
