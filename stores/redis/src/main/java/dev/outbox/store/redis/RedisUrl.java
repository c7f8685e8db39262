package dev.outbox.store.redis;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.SslOptions;

/**
 * A URL of Redis in its parts, so that programs can connect by it: {@code
 * redis://user:password@host:6379/0}, or {@code rediss:} for TLS, where the server's certificate
 * and name are checked. Behind a question mark it may have settings of a store: {@code replicas=1},
 * {@code uncheckedDurability=true}.
 *
 * @param user empty: the server's default one
 * @param password empty: none
 * @param database its number
 * @param replicas as {@code replicas(…)} of a store's builder
 */
public record RedisUrl(
    boolean tls,
    String user,
    String password,
    String host,
    int port,
    int database,
    int replicas,
    boolean uncheckedDurability) {
  /** What they begin with. */
  public static final List<String> BEGIN = List.of("redis:", "rediss:");

  private static final int DEFAULT_PORT = 6379;
  private static final int LAST_PORT = 65_535;

  /** For a connection, and for an answer, which may wait for the server's disk. */
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private static final Pattern PARTS =
      Pattern.compile(
          "redis(?<tls>s)?://((?<user>[^:/?#@]*)(:(?<password>[^/?#@]*))?@)?"
              + "(?<host>[^:/?#@\\[\\]]+|\\[[0-9A-Fa-f:.]+])(:(?<port>\\d{1,5}))?"
              + "(/(?<database>\\d{1,4})?)?(\\?(?<options>[^#]*))?");

  private static final Pattern REPLICAS = Pattern.compile("replicas=(\\d{1,3})");

  /**
   * Takes it apart.
   *
   * @throws IllegalArgumentException when it has not the form of one; the message says nothing of
   *     what stands in it but the name of an option
   */
  public static RedisUrl of(String url) {
    Matcher parts = PARTS.matcher(url);
    if (!parts.matches()) {
      throw new IllegalArgumentException(
          "it looks like redis://host:6379, and what is special in a user's name or password is"
              + " written as %40 for @, %3A for :, %2F for /, %3F for ?");
    }
    RedisUrl plain =
        new RedisUrl(
            parts.group("tls") != null,
            decoded(parts.group("user")),
            decoded(parts.group("password")),
            parts.group("host"),
            port(parts.group("port")),
            number(parts.group("database"), 0),
            0,
            false);
    return plain.with(parts.group("options"));
  }

  private static String decoded(@Nullable String text) {
    try {
      return text == null ? "" : URLDecoder.decode(text.replace("+", "%2B"), UTF_8);
    } catch (IllegalArgumentException e) { // which shows it
      throw new IllegalArgumentException(
          "behind a % in a user's name or password stand two hexadecimal digits, and % itself is written as %25");
    }
  }

  private static int port(@Nullable String text) {
    int port = number(text, DEFAULT_PORT);
    if (port > LAST_PORT) {
      throw new IllegalArgumentException(
          "its port is %s, at most %s is allowed".formatted(port, LAST_PORT));
    }
    return port;
  }

  private static int number(@Nullable String text, int otherwise) {
    return text == null ? otherwise : Integer.parseInt(text);
  }

  private RedisUrl with(@Nullable String options) {
    int most = replicas;
    boolean unchecked = uncheckedDurability;
    for (String option : options == null ? List.<String>of() : List.of(options.split("&"))) {
      Matcher given = REPLICAS.matcher(option);
      if (given.matches()) {
        most = Integer.parseInt(given.group(1));
      } else if (option.equals("uncheckedDurability=true")) {
        unchecked = true;
      } else {
        throw new IllegalArgumentException(
            "its option %s is not one of replicas=1 (or another number) and uncheckedDurability=true"
                .formatted(option.split("=", 2)[0]));
      }
    }
    return new RedisUrl(tls, user, password, host, port, database, most, unchecked);
  }

  /**
   * With a user, a password, or both.
   *
   * @param name empty: as the URL says
   * @param secret empty: as the URL says
   */
  public RedisUrl as(String name, String secret) {
    return new RedisUrl(
        tls,
        name.isEmpty() ? user : name,
        secret.isEmpty() ? password : secret,
        host,
        port,
        database,
        replicas,
        uncheckedDurability);
  }

  /**
   * A client with so many connections at most. Connects to nothing yet; whoever waits for a
   * connection or an answer gives up after 5 s.
   */
  public RedisClient client(int connections) {
    DefaultJedisClientConfig.Builder config =
        DefaultJedisClientConfig.builder()
            .timeoutMillis((int) PATIENCE.toMillis())
            .database(database);
    if (tls) {
      config.ssl(true).sslOptions(SslOptions.defaults());
    }
    if (!user.isEmpty()) {
      config.user(user);
    }
    if (!password.isEmpty()) {
      config.password(password);
    }
    ConnectionPoolConfig pool = new ConnectionPoolConfig();
    pool.setMaxTotal(connections);
    pool.setMaxIdle(connections);
    pool.setMaxWait(PATIENCE);
    return RedisClient.builder()
        .hostAndPort(host, port)
        .clientConfig(config.build())
        .poolConfig(pool)
        .build();
  }

  /** All of it: it may hold a password. */
  public String text() {
    return text(password.isEmpty() ? "" : ":" + encoded(password));
  }

  /** For people: without the password. */
  @Override
  public String toString() {
    return text(password.isEmpty() ? "" : ":***");
  }

  private String text(String secret) {
    String who = encoded(user) + secret;
    String options =
        (replicas == 0 ? "" : "&replicas=" + replicas)
            + (uncheckedDurability ? "&uncheckedDurability=true" : "");
    return "redis%s://%s%s:%s/%s%s"
        .formatted(
            tls ? "s" : "",
            who.isEmpty() ? "" : who + "@",
            host,
            port,
            database,
            options.replaceFirst("&", "?"));
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, UTF_8).replace("+", "%20");
  }
}
