package dev.outbox.embedded;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class SharedLibrariesTest {

  @Test
  @DisplayName("missing libraries are named, with the command that installs them")
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
            "MySQL does not start, because this system lacks libaio.so.1, libnuma.so.1: apt-get"
                + " install libaio1 libnuma1 (on Debian 13, Ubuntu 24.04 and newer libaio1t64"
                + " instead of libaio1)");
  }

  @Test
  @DisplayName("an unknown library is named too")
  void unknown() {
    assertThatThrownBy(() -> SharedLibraries.check("MariaDB", "\tlibnew.so.9 => not found\n"))
        .hasMessage(
            "MariaDB does not start, because this system lacks libnew.so.9: apt-get install the"
                + " package with libnew.so.9");
  }

  @Test
  @DisplayName("nothing is said when none is missing")
  void none() {
    assertThatCode(() -> SharedLibraries.check("MySQL", "\tlibc.so.6 => /lib/libc.so.6 (0x0000)\n"))
        .doesNotThrowAnyException();
  }
}
