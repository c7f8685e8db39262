package dev.outbox.peers;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;

/** Of the libraries, as Maven chose them. */
final class Versions {
  private Versions() {}

  static String of(String library) {
    Properties versions = new Properties();
    try (InputStream in = Versions.class.getResourceAsStream("versions.properties")) {
      if (in == null) {
        throw new IOException("versions.properties is missing in the class path");
      }
      versions.load(in);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return versions.getProperty(library);
  }
}
