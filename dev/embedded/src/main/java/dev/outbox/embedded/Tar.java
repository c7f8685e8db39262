package dev.outbox.embedded;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;

/** Archives of programs. */
final class Tar {
  private Tar() {}

  /** Unpacks files, folders and links; programs may be run afterwards. */
  static void unpack(InputStream archive, Path to) throws IOException {
    try (TarArchiveInputStream tar = new TarArchiveInputStream(new BufferedInputStream(archive))) {
      for (TarArchiveEntry e = tar.getNextEntry(); e != null; e = tar.getNextEntry()) {
        Path path = to.resolve(e.getName()).normalize();
        if (!path.startsWith(to)) {
          throw new IOException("the archive has a path outside of it: " + e.getName());
        }
        if (e.isDirectory()) {
          Files.createDirectories(path);
        } else {
          Files.createDirectories(path.getParent());
          if (e.isSymbolicLink()) {
            Files.createSymbolicLink(path, Path.of(e.getLinkName()));
          } else {
            Files.copy(tar, path);
          }
        }
        if (Machine.POSIX && !e.isSymbolicLink()) {
          boolean executable = e.isDirectory() || (e.getMode() & 0100) != 0;
          Files.setPosixFilePermissions(
              path, PosixFilePermissions.fromString(executable ? "rwxr-xr-x" : "rw-r--r--"));
        }
      }
    }
  }
}
