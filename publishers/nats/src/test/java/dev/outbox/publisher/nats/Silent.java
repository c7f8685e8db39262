package dev.outbox.publisher.nats;

import io.nats.client.ErrorListener;

/** Says nothing of connections that tests break. */
final class Silent implements ErrorListener {}
