/**
 * What the stores of this library have in common: {@link dev.outbox.store.core.BucketStore}. It
 * checks the schema once and hands everything else on to {@code dev.outbox.store.core.internal}.
 */
@NullMarked
package dev.outbox.store.core;

import org.jspecify.annotations.NullMarked;
