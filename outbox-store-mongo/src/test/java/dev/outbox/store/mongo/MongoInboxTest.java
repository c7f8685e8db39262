package dev.outbox.store.mongo;

/** Runs the TCK of inboxes in this build. */
class MongoInboxTest extends MongoInboxTck {}
