/** What the commands of developers share. */
@NullMarked
package dev.outbox.dev.common;

import org.jspecify.annotations.NullMarked;
