/** Real servers without Docker, for the tests and the demo. Not published. */
@NullMarked
package dev.outbox.embedded;

import org.jspecify.annotations.NullMarked;
