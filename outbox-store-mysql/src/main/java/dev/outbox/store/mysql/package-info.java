/** The MySQL and MariaDB store. */
@NullMarked
package dev.outbox.store.mysql;

import org.jspecify.annotations.NullMarked;
