package dev.outbox.store.mongo;

/** The TCK on the server that tests find. */
class MongoStoreTest extends MongoStoreTck {}
