package dev.outbox.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class BytesTest {

  @Test
  @DisplayName("a text is shown line by line")
  void text() {
    assertThat(Bytes.lines("{\n\t\"total\": \"12 €\"\n}".getBytes(UTF_8)))
        .containsExactly("{", "\t\"total\": \"12 €\"", "}");
    assertThat(Bytes.lines(new byte[0])).containsExactly("");
  }

  @Test
  @DisplayName("what is no text, or would steer a terminal, is shown in hexadecimal, and cut short")
  void bytes() {
    assertThat(Bytes.lines(new byte[] {0, 0x1b, (byte) 0xff}))
        .containsExactly("3 bytes, no text: 00 1b ff");
    assertThat(Bytes.lines("a\u001B[2J".getBytes(UTF_8)))
        .containsExactly("5 bytes, no text: 61 1b 5b 32 4a");
    assertThat(Bytes.lines(new byte[1_000]).get(0))
        .startsWith("1000 bytes, no text: 00 00 ")
        .endsWith("00 …")
        .hasSizeLessThan(230);
  }
}
