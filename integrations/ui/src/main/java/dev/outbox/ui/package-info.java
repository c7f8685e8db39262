/**
 * The operator's page: {@link dev.outbox.ui.OutboxPage} answers requests, whatever server they come
 * from; {@link dev.outbox.ui.PageServer} is one that needs nothing but the JDK.
 */
@NullMarked
package dev.outbox.ui;

import org.jspecify.annotations.NullMarked;
