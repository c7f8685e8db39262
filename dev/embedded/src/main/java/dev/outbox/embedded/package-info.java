/**
 * Real servers without Docker, and our own programs in processes of their own, for the tests and
 * the demo. Not published.
 */
@NullMarked
package dev.outbox.embedded;

import org.jspecify.annotations.NullMarked;
