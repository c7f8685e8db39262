/**
 * Events that Spring Modulith externalizes, by way of the outbox. Nothing here is for applications.
 */
@NullMarked
package dev.outbox.spring.modulith;

import org.jspecify.annotations.NullMarked;
