/** What our publishers have in common; one of your own may use it. */
@NullMarked
package dev.outbox.publisher.core;

import org.jspecify.annotations.NullMarked;
