/**
 * Publishers to Kafka as they are written in a hurry, each wrong in one way that is easily made,
 * and a right one to compare them with. {@code docs/tck.md} tells what the suite says of each.
 */
@NullMarked
package dev.outbox.gallery.publisher;

import org.jspecify.annotations.NullMarked;
