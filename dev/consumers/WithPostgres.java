import dev.outbox.embedded.EmbeddedPostgres;
import java.util.Map;

/** Runs a command that finds a PostgreSQL of its own in Spring's variables, and in DATABASE_URL. */
public final class WithPostgres {
  public static void main(String[] command) throws Exception {
    int code;
    try (EmbeddedPostgres server = EmbeddedPostgres.start()) {
      ProcessBuilder process = new ProcessBuilder(command).inheritIO();
      process
          .environment()
          .putAll(
              Map.of(
                  "DATABASE_URL",
                      "%s?user=%s&password=%s"
                          .formatted(server.jdbcUrl(), server.user(), server.password()),
                  "SPRING_DATASOURCE_URL", server.jdbcUrl(),
                  "SPRING_DATASOURCE_USERNAME", server.user(),
                  "SPRING_DATASOURCE_PASSWORD", server.password()));
      code = process.start().waitFor();
    }
    System.exit(code);
  }
}
