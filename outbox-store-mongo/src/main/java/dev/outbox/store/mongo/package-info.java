/** The outbox on MongoDB 6 and newer. */
@NullMarked
package dev.outbox.store.mongo;

import org.jspecify.annotations.NullMarked;
