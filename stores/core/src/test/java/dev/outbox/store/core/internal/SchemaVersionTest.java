package dev.outbox.store.core.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.SchemaException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A schema's version")
class SchemaVersionTest {

  @Test
  @DisplayName("is the one that is needed, or it is said which it is and what to do")
  void check() {
    assertThatCode(() -> SchemaVersion.check("t", 2, 2, "m")).doesNotThrowAnyException();
    assertThatThrownBy(() -> SchemaVersion.check("t", 1, 2, "m"))
        .isInstanceOf(SchemaException.class)
        .hasMessageStartingWith(
            "the schema of t has version 1, this library needs 2: migrate the database (m, or ");
    assertThatThrownBy(() -> SchemaVersion.check("t", 3, 2, "m"))
        .isInstanceOf(SchemaException.class)
        .hasMessageStartingWith("the schema of t has version 3, this library knows only 2: use a");
  }

  @Test
  @DisplayName("is not there at all: what is missing, and why")
  void missing() {
    Throwable cause = new IllegalStateException();
    assertThat(SchemaVersion.missing("table t", "m", cause))
        .hasMessageStartingWith("there is no table t: migrate the database first (m, or ")
        .hasCause(cause);
  }
}
