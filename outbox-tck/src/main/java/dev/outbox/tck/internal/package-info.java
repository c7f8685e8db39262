/** How the suites run; for nobody else. */
@NullMarked
package dev.outbox.tck.internal;

import org.jspecify.annotations.NullMarked;
