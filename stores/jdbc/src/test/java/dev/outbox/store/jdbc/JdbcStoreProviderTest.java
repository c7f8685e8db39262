package dev.outbox.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.PermanentOutboxException;
import dev.outbox.spi.store.StoreProvider.History;
import dev.outbox.spi.store.StoreProvider.Opened;
import dev.outbox.spi.store.StoreProvider.Settings;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** With a driver that says what it was told. */
@DisplayName("A pool of our own")
class JdbcStoreProviderTest {
  private static final String URL = "jdbc:told://localhost;user=u";

  private volatile Properties told = new Properties();
  private volatile String refusal;
  private final AtomicInteger connected = new AtomicInteger();
  private final Driver driver = proxy(Driver.class, this::call);

  private Object call(Object proxy, Method method, Object[] a) throws SQLException {
    boolean ours = a != null && a[0] instanceof String url && url.startsWith("jdbc:told:");
    return switch (method.getName()) {
      case "acceptsURL" -> ours;
      case "connect" -> ours ? connect((Properties) a[1]) : null;
      case "hashCode" -> System.identityHashCode(proxy);
      case "equals" -> proxy == a[0];
      case "getMajorVersion", "getMinorVersion" -> 1;
      default -> null;
    };
  }

  private Connection connect(Properties info) throws SQLException {
    if (refusal != null) {
      throw new SQLException(refusal);
    }
    Properties all = new Properties();
    all.putAll(info);
    told = all;
    connected.incrementAndGet();
    return proxy(
        Connection.class,
        (proxy, method, a) ->
            switch (method.getName()) {
              case "isClosed" -> false;
              case "prepareStatement" -> schemata((String) a[0]);
              default -> something(method);
            });
  }

  private static Object something(Method method) {
    return method.getReturnType() == boolean.class
        ? (Object) true
        : method.getReturnType() == int.class ? (Object) 0 : null;
  }

  /** As SQL Server in a database whose collation minds case. */
  private static PreparedStatement schemata(String sql) throws SQLException {
    if (!sql.contains("SCHEMA_NAME from INFORMATION_SCHEMA.SCHEMATA where SCHEMA_NAME")) {
      throw new SQLException("Invalid object name", "S0002", 208);
    }
    ResultSet rows =
        proxy(
            ResultSet.class,
            (proxy, method, a) ->
                method.getName().equals("getString") ? "shop" : something(method));
    return proxy(
        PreparedStatement.class,
        (proxy, method, a) -> method.getName().equals("executeQuery") ? rows : something(method));
  }

  private static <T> T proxy(Class<T> type, InvocationHandler handler) {
    return type.cast(
        Proxy.newProxyInstance(
            JdbcStoreProviderTest.class.getClassLoader(), new Class<?>[] {type}, handler));
  }

  private static final class Provider extends JdbcStoreProvider {
    Provider() {
      this(Provider::none);
    }

    Provider(Function<DataSource, JdbcOutboxStore.Builder<?, ?>> stores) {
      super("told", "Told", "jdbc:told://host", "no.Driver", "", stores, source -> null);
    }

    private static JdbcOutboxStore.PlainBuilder<JdbcOutboxStore> none(DataSource dataSource) {
      return new JdbcOutboxStore.PlainBuilder<>(dataSource, builder -> null);
    }

    @Override
    protected Map<String, String> poolSettings() {
      return Map.of("keepStatements", "true", "howMany", "100");
    }
  }

  @BeforeEach
  void register() throws SQLException {
    DriverManager.registerDriver(driver);
  }

  @AfterEach
  void deregister() throws SQLException {
    DriverManager.deregisterDriver(driver);
  }

  private static Settings settings(String url, int connections) {
    return new Settings(
        url, "", "", null, Settings.DEFAULT_PREFIX, null, connections, History.NONE);
  }

  /** The pool connects in a thread of its own. */
  private void open(String url) {
    Settings settings = settings(url, 2);
    try (Opened ignored = new Provider().open(settings)) {
      await().until(() -> !told.isEmpty());
    }
  }

  @Test
  @DisplayName("tells the driver what its database does better with")
  void settings() {
    open(URL);
    assertThat(told).containsEntry("keepStatements", "true").containsEntry("howMany", "100");
  }

  @Test
  @DisplayName("leaves it at what the URL says, in whatever case")
  void url() {
    open(URL + ";KeepStatements=false");
    assertThat(told).doesNotContainKey("keepStatements").containsEntry("howMany", "100");
  }

  @Test
  @DisplayName("of one connection connects when it is used, and says at once why it cannot")
  void one() {
    Settings settings = settings(URL, 1);
    try (Opened opened = new Provider().open(settings)) {
      refusal = "no such user";
      assertThatThrownBy(opened::check)
          .isInstanceOf(PermanentOutboxException.class)
          .hasMessage("cannot connect to %s: no such user".formatted(URL));
      refusal = null;
      opened.check();
      opened.check();
      assertThat(connected).as("connections").hasValue(1);
    }
  }

  @Test
  @DisplayName("finds the schema in a database that minds the case of names")
  void schema() {
    Settings settings =
        new Settings(URL, "", "", "shop", Settings.DEFAULT_PREFIX, null, 1, History.NONE);
    try (Opened opened = new Provider().open(settings)) {
      opened.check();
    }
  }

  @Test
  @DisplayName("is closed when the store cannot be made")
  void closed() {
    AtomicReference<DataSource> pool = new AtomicReference<>();
    Provider provider =
        new Provider(
            source -> {
              pool.set(source);
              throw new NoClassDefFoundError("org/jdbi/v3/core/Jdbi");
            });
    Settings settings = settings(URL, 2);
    assertThatThrownBy(() -> provider.open(settings)).isInstanceOf(NoClassDefFoundError.class);
    assertThat(pool.get())
        .isInstanceOfSatisfying(
            HikariDataSource.class, source -> assertThat(source.isClosed()).isTrue());
  }
}
