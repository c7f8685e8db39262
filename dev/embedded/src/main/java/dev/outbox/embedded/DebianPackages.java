package dev.outbox.embedded;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Packages of Debian and Ubuntu that are downloaded and unpacked, once, without installing them: no
 * service is started, and it needs no rights.
 */
public final class DebianPackages {
  private DebianPackages() {}

  /**
   * Where the files of packages are, as {@code usr/lib} below it.
   *
   * @param packages all that are needed: dependencies are not looked up
   * @throws UnsupportedOperationException when they cannot be had here, with the reason and what to
   *     do
   */
  public static Path unpacked(List<String> packages) {
    return unpacked(packages, root -> {});
  }

  /**
   * {@link #unpacked(List)}.
   *
   * @param change makes them usable outside of their places
   */
  static Path unpacked(List<String> packages, Cache.Maker change) {
    String what = packages.get(0);
    if (Machine.program("apt-get").isEmpty() || Machine.program("dpkg").isEmpty()) {
      throw new UnsupportedOperationException(
          "%s is not installed, and there is no apt-get to get it".formatted(what));
    }
    try {
      return Cache.get(
          "debian-" + what,
          root -> {
            download(packages, root);
            change.make(root);
          });
    } catch (IOException e) {
      throw new UnsupportedOperationException(
          "the package %s could not be downloaded; run apt-get update, or install it: %s"
              .formatted(what, e.getMessage()),
          e);
    }
  }

  private static void download(List<String> packages, Path to) throws IOException {
    System.err.printf(
        "%s is not here: downloading %s of this system's packages, once, to %s%n",
        packages.get(0), packages.size(), to.getParent());
    Path debs = Files.createDirectory(to.resolve("debs"));
    List<String> get = new ArrayList<>(List.of("sh", "-c", "cd \"$0\" && exec \"$@\""));
    get.addAll(List.of(debs.toString(), "apt-get", "download", "-qq"));
    get.addAll(packages);
    String unsaid = Program.run(get);
    try (Stream<Path> all = Files.list(debs)) {
      for (Path deb : all.toList()) {
        unsaid = Program.run(List.of("dpkg", "-x", deb.toString(), to.toString()));
      }
    }
    Directories.delete(debs);
  }
}
