package dev.outbox.spring.test;

/**
 * What a test method leaves behind and the next one must not find.
 *
 * @param forget throws nothing
 */
record Forgotten(Runnable forget) {}
