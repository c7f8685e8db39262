/**
 * What the stores on relational databases have in common. {@link
 * dev.outbox.store.jdbc.JdbcOutboxStore} appends in the caller's transaction and makes and checks
 * the schema; the rest it has from {@link dev.outbox.store.core.BucketStore}. {@link
 * dev.outbox.store.jdbc.JdbcInboxStore} is the inbox. {@link
 * dev.outbox.store.jdbc.JdbcStoreProvider} opens both by a URL.
 */
@NullMarked
package dev.outbox.store.jdbc;

import org.jspecify.annotations.NullMarked;
