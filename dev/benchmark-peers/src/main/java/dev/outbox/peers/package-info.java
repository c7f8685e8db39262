/** Other outboxes beside ours: the same work, on the same server, in one run. */
@NullMarked
package dev.outbox.peers;

import org.jspecify.annotations.NullMarked;
