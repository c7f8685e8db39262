/** What the stores on relational databases have in common. */
@NullMarked
package dev.outbox.store.jdbc;

import org.jspecify.annotations.NullMarked;
