package dev.outbox.store.mongo;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.mongodb.ConnectionString;
import java.net.URLEncoder;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A URL of MongoDB in its parts, so that programs can go to databases of their own by it.
 *
 * @param user with the password, as they are written in the URL; null: nobody logs in
 * @param database the name of the database in its path; empty when there is none
 */
public record MongoUrl(
    String scheme, @Nullable String user, String hosts, String database, String options) {
  /** What they begin with. */
  public static final List<String> BEGIN = List.of("mongodb:", "mongodb+srv:");

  private static final Pattern PARTS =
      Pattern.compile(
          "(?<scheme>mongodb(\\+srv)?)://((?<user>[^/?]*)@)?(?<hosts>[^/?@]+)"
              + "(/(?<database>[^?/@]*))?(\\?(?<options>.*))?");

  private static final Pattern WITHOUT_PASSWORD =
      Pattern.compile("(?i)(^|&)authMechanism=(?!SCRAM|PLAIN)");

  /**
   * Takes it apart.
   *
   * @throws IllegalArgumentException when it has not the form of one; the message says nothing of
   *     what stands in it
   */
  public static MongoUrl of(String url) {
    Matcher parts = PARTS.matcher(url);
    if (!parts.matches()) {
      throw new IllegalArgumentException(
          "it looks like mongodb://host:27017/name?replicaSet=rs0, and what is special in a user's"
              + " name or password is written as %40 for @, %3A for :, %2F for /, %3F for ?");
    }
    return new MongoUrl(
        parts.group("scheme"),
        parts.group("user"),
        parts.group("hosts"),
        orEmpty(parts.group("database")),
        orEmpty(parts.group("options")));
  }

  private static String orEmpty(@Nullable String text) {
    return text == null ? "" : text;
  }

  /**
   * With a user, or a password for the one that it names; where neither is named, nobody logs in.
   *
   * @param name empty: as the URL says
   * @param password empty: as the URL says
   */
  public MongoUrl as(String name, String password) {
    String who = name.isEmpty() ? orEmpty(user).replaceFirst("(?s):.*", "") : encoded(name);
    if (who.isEmpty() || (name.isEmpty() && password.isEmpty())) {
      return this;
    }
    String all = password.isEmpty() ? who : who + ":" + encoded(password);
    return new MongoUrl(scheme, all, hosts, database, options);
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, UTF_8).replace("+", "%20");
  }

  /** The user, of whom a password is missing; or null. */
  public @Nullable String userWithoutPassword() {
    boolean missing =
        user != null
            && !user.isEmpty()
            && !user.contains(":")
            && !WITHOUT_PASSWORD.matcher(options).find();
    return missing ? user : null;
  }

  /**
   * The same with another database; who its user is says the same database as before.
   *
   * @throws IllegalArgumentException as {@link #connection}
   */
  public MongoUrl in(String database) {
    var credential = user == null ? null : connection().getCredential();
    boolean isSaid = ("&" + options).toLowerCase(Locale.ROOT).contains("&authsource=");
    MongoUrl other = new MongoUrl(scheme, user, hosts, database, options);
    return credential == null || isSaid
        ? other
        : other.with("authSource=" + encoded(credential.getSource()));
  }

  /** The same for sessions that others find by a plain name. */
  public MongoUrl named(String name) {
    return with("appName=" + name);
  }

  private MongoUrl with(String option) {
    return new MongoUrl(
        scheme, user, hosts, database, options.isEmpty() ? option : options + "&" + option);
  }

  /**
   * As the driver takes it.
   *
   * @throws IllegalArgumentException when something in it is wrong
   */
  public ConnectionString connection() {
    return new ConnectionString(text());
  }

  /** All of it: it may hold a password. */
  public String text() {
    return text(user);
  }

  /** For people: without the password. */
  @Override
  public String toString() {
    return text(user == null ? null : user.replaceFirst("(?s):.*", ":***"));
  }

  private String text(@Nullable String who) {
    return scheme
        + "://"
        + (who == null ? "" : who + "@")
        + hosts
        + "/"
        + database
        + (options.isEmpty() ? "" : "?" + options);
  }
}
