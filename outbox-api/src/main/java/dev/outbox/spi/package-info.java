/**
 * What the author of a store or a publisher touches. The rules they keep are in {@code SPEC.md};
 * numbers like C1 and S3 in these comments point there.
 */
@NullMarked
package dev.outbox.spi;

import org.jspecify.annotations.NullMarked;
