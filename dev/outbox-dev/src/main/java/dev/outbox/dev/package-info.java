/** What developers run: a demo, the TCK in their own database, benchmarks, a torture. */
@NullMarked
package dev.outbox.dev;

import org.jspecify.annotations.NullMarked;
