/** The benchmarks behind {@code ./outbox bench}. Not published. */
@NullMarked
package dev.outbox.benchmarks;

import org.jspecify.annotations.NullMarked;
