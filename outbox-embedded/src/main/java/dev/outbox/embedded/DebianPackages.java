package dev.outbox.embedded;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Packages of this system, Debian's or Ubuntu's, that are unpacked and not installed. */
public final class DebianPackages {
  private DebianPackages() {}

  /**
   * The folder in which they are unpacked, as if it were the root; downloaded once for all JVMs of
   * this user.
   *
   * @param name for people
   * @param megabytes of the download
   * @throws UnsupportedOperationException when they cannot be had, with the reason
   */
  public static Path unpacked(String name, int megabytes, List<String> packages) {
    if (Machine.program("apt-get").isEmpty() || Machine.program("dpkg").isEmpty()) {
      throw new UnsupportedOperationException(
          "%s is not installed, and there is no apt-get to get it".formatted(name));
    }
    try {
      return Cache.get(packages.get(0) + "-debian", to -> download(name, megabytes, packages, to));
    } catch (IOException e) {
      throw new UnsupportedOperationException(
          "the packages of %s could not be downloaded; run apt-get update, or install %s: %s"
              .formatted(name, packages.get(0), e.getMessage()));
    }
  }

  private static void download(String name, int megabytes, List<String> packages, Path to)
      throws IOException {
    System.err.printf(
        "%s is not here: downloading %d MB of this system's packages, once, into %s%n",
        name, megabytes, to.getParent());
    Path debs = Files.createDirectory(to.resolve("debs"));
    List<String> get =
        new ArrayList<>(List.of("sh", "-c", "cd \"$0\" && exec \"$@\"", debs.toString()));
    get.addAll(List.of("apt-get", "download", "-qq"));
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
