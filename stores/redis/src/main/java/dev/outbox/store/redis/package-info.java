/** The outbox and the inbox on Redis. */
@NullMarked
package dev.outbox.store.redis;

import org.jspecify.annotations.NullMarked;
