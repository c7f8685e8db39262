package dev.outbox.embedded;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;

/**
 * In a {@link ChildJvm}: what the parent says, on standard input. The child ends when the parent
 * does.
 */
public final class ParentJvm {
  private static final int ORPHANED = 3;

  private final Map<String, String> settings = new LinkedHashMap<>();
  private final BlockingQueue<String> commands = new LinkedBlockingQueue<>();

  private ParentJvm() {}

  /** Reads the settings, up to an empty line. */
  public static ParentJvm connect() throws IOException {
    ParentJvm parent = new ParentJvm();
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    for (String line = in.readLine(); line != null && !line.isEmpty(); line = in.readLine()) {
      String[] pair = line.split("=", 2);
      parent.settings.put(pair[0], pair[1]);
    }
    Thread reader = new Thread(() -> parent.read(in), "parent");
    reader.setDaemon(true);
    reader.start();
    return parent;
  }

  /**
   * A setting.
   *
   * @throws IllegalArgumentException when the parent gave none of this name
   */
  public String get(String name) {
    String value = settings.get(name);
    if (value == null) {
      throw new IllegalArgumentException("the parent gave no " + name);
    }
    return value;
  }

  public Map<String, String> settings() {
    return Map.copyOf(settings);
  }

  public void say(String line) {
    System.out.println(line);
    System.out.flush();
  }

  /** Waits for the parent's next line. */
  public String command() throws InterruptedException {
    return commands.take();
  }

  /** The parent's next line, where it has said one; else null. */
  public @Nullable String next() {
    return commands.poll();
  }

  private void read(BufferedReader in) {
    try {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        commands.add(line);
      }
    } catch (IOException e) {
      // as good as its end
    }
    Runtime.getRuntime().halt(ORPHANED);
  }
}
