/** What a consumer touches: handle each message once, also when it arrives again. */
@NullMarked
package dev.outbox.inbox;

import org.jspecify.annotations.NullMarked;
