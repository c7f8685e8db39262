/** For the tests of applications with Spring Boot. Nothing here belongs into production. */
@NullMarked
package dev.outbox.spring.test;

import org.jspecify.annotations.NullMarked;
