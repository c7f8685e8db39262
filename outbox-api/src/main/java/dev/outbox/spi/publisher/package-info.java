/**
 * For authors of publishers. The rules are in {@code SPEC.md}; numbers like P1 in these comments
 * point there.
 */
@NullMarked
package dev.outbox.spi.publisher;

import org.jspecify.annotations.NullMarked;
