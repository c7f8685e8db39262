package dev.outbox.publisher.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Header;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

class AsciiJsonTest {

  @Property(tries = 200)
  void anyTextComesBackFromAscii(@ForAll List<String> texts) {
    List<Header> headers = texts.stream().map(text -> new Header(text, text + "'s value")).toList();
    String json = AsciiJson.headers(headers);
    assertThat(json.chars()).allMatch(c -> c >= ' ' && c < 0x7F);
    assertThat(Header.fromJson(json)).isEqualTo(headers);
  }
}
