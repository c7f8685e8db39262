package dev.outbox.store.mysql;

class MariadbStoreTest extends MariadbStoreTck {}
