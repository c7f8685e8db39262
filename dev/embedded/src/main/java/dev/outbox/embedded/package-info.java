/**
 * Real servers without Docker, and our own programs in processes of their own, for the tests and
 * the demo; and what tests of publishers share. Not published.
 */
@NullMarked
package dev.outbox.embedded;

import org.jspecify.annotations.NullMarked;
