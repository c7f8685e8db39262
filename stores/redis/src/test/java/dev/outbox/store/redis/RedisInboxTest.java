package dev.outbox.store.redis;

/** Runs the TCK of inboxes in this build. */
class RedisInboxTest extends RedisInboxTck {}
