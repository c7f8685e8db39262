/** Answers a repeated HTTP request once: {@link dev.outbox.servlet.IdempotencyFilter}. */
@NullMarked
package dev.outbox.servlet;

import org.jspecify.annotations.NullMarked;
