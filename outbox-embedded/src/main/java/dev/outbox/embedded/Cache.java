package dev.outbox.embedded;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Properties;
import java.util.stream.Stream;

/**
 * Directories that are made once and used by every JVM of this user, in the temporary directory or
 * where the property {@code outbox.embedded.cache} says. Each is made under another name and then
 * renamed, so that an interrupted JVM leaves nothing that looks whole, and several at once do not
 * disturb each other.
 */
final class Cache {
  static final boolean POSIX =
      Path.of("").getFileSystem().supportedFileAttributeViews().contains("posix");

  private Cache() {}

  interface Maker {
    void make(Path path) throws IOException;
  }

  /** The directory of that name; what is in it never changes. */
  static Path get(String name, Maker maker) throws IOException {
    Path target = directory().resolve(name);
    if (!isWhole(target)) {
      make(target, maker);
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
    if (POSIX) {
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
    if (POSIX && !Files.getOwner(cache, LinkOption.NOFOLLOW_LINKS).getName().equals(user)) {
      throw new IOException(
          cache + " belongs to another user: choose another one with -Doutbox.embedded.cache=…");
    }
    open(cache);
    return cache.toRealPath();
  }

  private static void make(Path target, Maker maker) throws IOException {
    Path draft = Files.createTempDirectory(target.getParent(), "draft-");
    try {
      open(draft);
      maker.make(draft);
      Files.writeString(draft.resolve("files"), Long.toString(count(draft) + 1), UTF_8);
      if (Files.exists(target) && !isWhole(target)) {
        Directories.delete(target);
      }
      Files.move(draft, target, StandardCopyOption.ATOMIC_MOVE);
    } catch (FileSystemException e) {
      if (!isWhole(target)) {
        throw e; // otherwise another JVM was faster
      }
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
