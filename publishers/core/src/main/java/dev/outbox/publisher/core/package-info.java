/**
 * What publishers have in common; one of your own may use it. In the order in which one meets them:
 *
 * <ol>
 *   <li>{@link dev.outbox.publisher.core.Destination}: where a message goes.
 *   <li>{@link dev.outbox.publisher.core.Attributes}: what arrives of it, with {@link
 *       dev.outbox.publisher.core.PercentEncoding} and {@link dev.outbox.publisher.core.AsciiJson}
 *       for brokers whose names and headers hold little.
 *   <li>{@link dev.outbox.publisher.core.Outcome}: the results of a call in which several messages
 *       are on their way, a {@link dev.outbox.publisher.core.KeyRun} for each key; {@link
 *       dev.outbox.publisher.core.SideBySide}: such a call with one message of each key on its way.
 *   <li>{@link dev.outbox.publisher.core.Unanswered}: messages that are on their way when a call
 *       returns; {@link dev.outbox.publisher.core.SilentPlaces}, which do not acknowledge; and
 *       {@link dev.outbox.publisher.core.BackgroundTasks} for what may take long.
 *   <li>{@link dev.outbox.publisher.core.Reconnecting}: a connection, and another one in its place.
 *   <li>{@link dev.outbox.publisher.core.TimeLimits}: which timeouts are taken; {@link
 *       dev.outbox.publisher.core.ProviderProperties}: how a provider reads its properties.
 * </ol>
 */
@NullMarked
package dev.outbox.publisher.core;

import org.jspecify.annotations.NullMarked;
