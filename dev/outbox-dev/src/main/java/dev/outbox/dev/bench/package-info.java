/** The benchmarks behind {@code ./outbox bench}. Not published. */
@NullMarked
package dev.outbox.dev.bench;

import org.jspecify.annotations.NullMarked;
