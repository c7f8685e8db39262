package dev.outbox.store.mongo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MongoUrlTest {

  @ParameterizedTest
  @DisplayName("another database keeps what says who the user is")
  @CsvSource({
    "mongodb://h/shop, mongodb://h/other",
    "mongodb://h, mongodb://h/other",
    "mongodb://h:1?replicaSet=rs0, mongodb://h:1/other?replicaSet=rs0",
    "mongodb://u:p@h:1/shop, mongodb://u:p@h:1/other?authSource=shop",
    "mongodb://u:p@h:1/?w=1, mongodb://u:p@h:1/other?w=1&authSource=admin",
    "mongodb://u:p%40@h:1/shop?authsource=x, mongodb://u:p%40@h:1/other?authsource=x",
    "mongodb://u@h/shop?authMechanism=MONGODB-X509, mongodb://u@h/other?authMechanism=MONGODB-X509&authSource=%24external",
  })
  void in(String url, String other) {
    assertThat(MongoUrl.of(url).in("other").text()).isEqualTo(other);
  }

  @Test
  @DisplayName("several hosts, with a user and a password from elsewhere, quoted")
  void as() {
    MongoUrl url = MongoUrl.of("mongodb://a:1,b:2/shop?replicaSet=rs0").as("me@x", "p/w: 1+2");
    assertThat(url.text())
        .isEqualTo("mongodb://me%40x:p%2Fw%3A%201%2B2@a:1,b:2/shop?replicaSet=rs0");
    assertThat(url.connection().getCredential().getUserName()).isEqualTo("me@x");
    assertThat(url.connection().getCredential().getPassword())
        .containsExactly("p/w: 1+2".toCharArray());
    assertThat(url.connection().getHosts()).containsExactly("a:1", "b:2");
    assertThat(url.connection().getDatabase()).isEqualTo(url.database()).isEqualTo("shop");
  }

  @ParameterizedTest
  @DisplayName("a password is for the user that is named, here or there; without one, for nobody")
  @CsvSource({
    "mongodb://u@h/d, '', pw, mongodb://u:pw@h/d",
    "mongodb://u:old@h/d, '', pw, mongodb://u:pw@h/d",
    "mongodb://u:old@h/d, v, pw, mongodb://v:pw@h/d",
    "mongodb://u:old@h/d, '', '', mongodb://u:old@h/d",
    "mongodb://h/d, '', pw, mongodb://h/d",
  })
  void passwords(String url, String user, String password, String with) {
    assertThat(MongoUrl.of(url).as(user, password).text()).isEqualTo(with);
  }

  @Test
  @DisplayName("a password is missed where a user is named and logs in with one")
  void missing() {
    assertThat(MongoUrl.of("mongodb://u@h/d").userWithoutPassword()).isEqualTo("u");
    assertThat(MongoUrl.of("mongodb://u@h/d?authMechanism=SCRAM-SHA-256").userWithoutPassword())
        .isEqualTo("u");
    assertThat(MongoUrl.of("mongodb://u:p@h/d").userWithoutPassword()).isNull();
    assertThat(MongoUrl.of("mongodb://h/d").userWithoutPassword()).isNull();
    assertThat(MongoUrl.of("mongodb://u@h/d?authMechanism=MONGODB-X509").userWithoutPassword())
        .isNull();
  }

  @Test
  @DisplayName("a name that its sessions are found by")
  void named() {
    assertThat(MongoUrl.of("mongodb://h/d?w=1").named("me_1").connection().getApplicationName())
        .isEqualTo("me_1");
  }

  @ParameterizedTest
  @DisplayName("what is no such URL is refused without repeating it")
  @ValueSource(
      strings = {
        "mongodb:x",
        "mongodb://",
        "mongodb://u:se/cret@h/d",
        "mongodb://u:se/cret@h",
        "mongodb://u:s@cret@h@/d"
      })
  void refused(String url) {
    assertThatThrownBy(() -> MongoUrl.of(url))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("mongodb://host:27017/name")
        .hasMessageNotContaining("cret");
  }

  @Test
  @DisplayName("as text for people has no password")
  void masked() {
    assertThat(MongoUrl.of("mongodb://u:geheim@h,i/d?w=1"))
        .hasToString("mongodb://u:***@h,i/d?w=1");
    assertThat(MongoUrl.of("mongodb://u@h/d")).hasToString("mongodb://u@h/d");
    assertThat(MongoUrl.of("mongodb://h/d")).hasToString("mongodb://h/d");
  }
}
