/**
 * For authors of stores. The rules are in {@code SPEC.md}; numbers like C1 and S3 in these comments
 * point there.
 */
@NullMarked
package dev.outbox.spi.store;

import org.jspecify.annotations.NullMarked;
