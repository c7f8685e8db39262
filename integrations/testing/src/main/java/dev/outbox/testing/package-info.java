/** For the tests of applications. Nothing here belongs into production. */
@NullMarked
package dev.outbox.testing;

import org.jspecify.annotations.NullMarked;
