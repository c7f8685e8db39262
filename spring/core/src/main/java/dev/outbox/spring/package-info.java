/** The outbox in Spring's transactions and life cycle, with Spring Boot or without. */
@NullMarked
package dev.outbox.spring;

import org.jspecify.annotations.NullMarked;
