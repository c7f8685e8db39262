package dev.outbox.embedded;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class SharedLibrariesTest {

  @Test
  @DisplayName("missing libraries are named")
  void missing() {
    String ldd =
        """
        	linux-vdso.so.1 (0x00007f73f8868000)
        	libnuma.so.1 => not found
        	libaio.so.1 => not found
        	libpthread.so.0 => /lib/x86_64-linux-gnu/libpthread.so.0 (0x00007f73f8746000)
        """;
    assertThatThrownBy(() -> SharedLibraries.check("MySQL", ldd))
        .isInstanceOf(UnsupportedOperationException.class)
        .hasMessage(
            "MySQL does not start, because this system lacks libaio.so.1, libnuma.so.1: see"
                + " CONTRIBUTING.md");
  }

  @Test
  @DisplayName("nothing is said when none is missing")
  void none() {
    assertThatCode(() -> SharedLibraries.check("MySQL", "\tlibc.so.6 => /lib/libc.so.6 (0x0000)\n"))
        .doesNotThrowAnyException();
  }
}
