/** The suites that any store or publisher must pass; the rules they test are in {@code SPEC.md}. */
@NullMarked
package dev.outbox.tck;

import org.jspecify.annotations.NullMarked;
