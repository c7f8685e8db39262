/** The HTTP publisher: {@link dev.outbox.publisher.http.HttpPublisher}. */
@NullMarked
package dev.outbox.publisher.http;

import org.jspecify.annotations.NullMarked;
