package dev.outbox;

import org.jspecify.annotations.Nullable;

/** The tables are missing, or of a version that this library does not work with (E1). */
public class SchemaException extends PermanentOutboxException {
  private static final long serialVersionUID = 1L;

  public SchemaException(String message) {
    super(message);
  }

  public SchemaException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
