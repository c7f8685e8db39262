/** What Spring Boot makes of the properties {@code outbox.*}. Nothing here is for applications. */
@NullMarked
package dev.outbox.spring.autoconfigure;

import org.jspecify.annotations.NullMarked;
