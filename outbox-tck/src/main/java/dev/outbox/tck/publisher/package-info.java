/** The suite that every publisher must pass: {@link dev.outbox.tck.publisher.PublisherTck}. */
@NullMarked
package dev.outbox.tck.publisher;

import org.jspecify.annotations.NullMarked;
