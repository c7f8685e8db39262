package dev.outbox.embedded;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * Directories that are made once and used by every JVM of this user, in the temporary directory or
 * where the property {@code outbox.embedded.cache} says. Each is made under another name and then
 * renamed, so that an interrupted JVM leaves nothing that looks whole, and several at once do not
 * disturb each other.
 */
final class Cache {
  private static final Map<String, Object> LOCKS = new ConcurrentHashMap<>();

  private Cache() {}

  interface Maker {
    void make(Path path) throws IOException;
  }

  /**
   * The directory of that name; what is in it never changes. Who comes while it is being made
   * waits, in this JVM and in others: a download of minutes happens once.
   */
  static Path get(String name, Maker maker) throws IOException {
    Path target = directory().resolve(name);
    if (isWhole(target)) {
      return target;
    }
    // A file is locked for a JVM and not for a thread.
    synchronized (LOCKS.computeIfAbsent(name, n -> new Object())) {
      try (FileChannel file =
              FileChannel.open(
                  target.resolveSibling(name + ".lock"),
                  StandardOpenOption.CREATE,
                  StandardOpenOption.WRITE);
          FileLock lock = file.lock()) {
        if (!isWhole(target)) {
          make(target, maker);
        }
      }
    }
    return target;
  }

  /** The version of a server that this was built with. */
  static String version(String server) {
    Properties versions = new Properties();
    try (InputStream in = Cache.class.getResourceAsStream("versions.properties")) {
      versions.load(in);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return versions.getProperty(server);
  }

  /** Lets a server's user pass through. */
  static void open(Path directory) throws IOException {
    if (Machine.POSIX) {
      Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx--x--x"));
    }
  }

  private static Path directory() throws IOException {
    String user = System.getProperty("user.name");
    String given = System.getProperty("outbox.embedded.cache");
    Path cache =
        given != null
            ? Path.of(given)
            : Path.of(
                System.getProperty("java.io.tmpdir"),
                "outbox-embedded-" + user.replaceAll("[^A-Za-z0-9_-]", "_"));
    Files.createDirectories(cache);
    if (Machine.POSIX && !Files.getOwner(cache, LinkOption.NOFOLLOW_LINKS).getName().equals(user)) {
      throw new IOException(
          cache + " belongs to another user: choose another one with -Doutbox.embedded.cache=…");
    }
    open(cache);
    return cache.toRealPath();
  }

  private static void make(Path target, Maker maker) throws IOException {
    Path draft = target.resolveSibling(target.getFileName() + ".draft");
    Directories.delete(draft); // of a JVM that was killed
    Directories.delete(target);
    try {
      Files.createDirectory(draft);
      open(draft);
      maker.make(draft);
      Files.writeString(draft.resolve("files"), Long.toString(count(draft) + 1), UTF_8);
      Files.move(draft, target, StandardCopyOption.ATOMIC_MOVE);
    } finally {
      Directories.delete(draft);
    }
  }

  /** Cleaners of temporary directories delete files one by one: so they are counted. */
  private static boolean isWhole(Path directory) throws IOException {
    Path files = directory.resolve("files");
    return Files.exists(files)
        && Files.readString(files, UTF_8).equals(Long.toString(count(directory)));
  }

  private static long count(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      return files.filter(f -> !Files.isDirectory(f, LinkOption.NOFOLLOW_LINKS)).count();
    }
  }
}
