package dev.outbox.embedded;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.Base64;

/** The password of a server's data directory: random, and kept beside it for its owner alone. */
final class Password {
  private Password() {}

  static String random() {
    byte[] random = new byte[18];
    new SecureRandom().nextBytes(random);
    return Base64.getUrlEncoder().withoutPadding().encodeToString(random);
  }

  /** Writes a new file that only its owner can read. */
  static Path write(Path file, String text) throws IOException {
    if (Machine.POSIX) {
      Files.createFile(
          file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    }
    return Files.writeString(file, text, UTF_8);
  }

  static void keep(String password, Path directory) throws IOException {
    write(directory.resolve("password"), password);
  }

  static String kept(Path directory) throws IOException {
    return Files.readString(directory.resolve("password"), UTF_8);
  }
}
