package dev.outbox.embedded;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.GZIPInputStream;

/**
 * A real schema registry, Apicurio's, in a JVM of its own, on 127.0.0.1 and a free port. It keeps
 * schemas in memory: they are gone after a restart.
 */
public final class EmbeddedRegistry extends EmbeddedServer {
  private static final MavenArchive ARCHIVE =
      new MavenArchive(
          "Apicurio Registry 3.0.9",
          "io/apicurio/apicurio-registry-app/3.0.9/apicurio-registry-app-3.0.9-all.tar.gz",
          108_860_403,
          "2b28181501a20cbf6efcd77f9b7153908fc01f3d3a7c32024c0bd9e1b04c8a43",
          120);

  private final Path home = unpacked();

  private EmbeddedRegistry() {
    super("Registry", "Apicurio 3.0.9");
  }

  /** Starts one; ready when it returns. The first one downloads 109 MB. */
  public static EmbeddedRegistry start() {
    return started(new EmbeddedRegistry());
  }

  /** For {@code apicurio.registry.url}. */
  public String url() {
    return "http://127.0.0.1:" + port() + "/apis/registry/v3";
  }

  @Override
  ServerProcess launch() {
    return process(
        List.of(
            Machine.jdk("java"),
            "-Xmx384m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-Dquarkus.http.host=127.0.0.1",
            "-Dquarkus.http.port=" + port(),
            "-jar",
            home.resolve("apicurio-registry-app-3.0.9-runner.jar").toString()));
  }

  @Override
  boolean isReady(ServerProcess server) {
    try {
      HttpURLConnection info =
          (HttpURLConnection) URI.create(url() + "/system/info").toURL().openConnection();
      info.setReadTimeout(30_000); // the first answer of a busy machine
      return info.getResponseCode() == HttpURLConnection.HTTP_OK;
    } catch (IOException e) {
      return false;
    }
  }

  private static Path unpacked() {
    try {
      return Cache.get(
          ARCHIVE.name().replace(' ', '-'),
          path -> ARCHIVE.with(path, archive -> unpack(archive, path)));
    } catch (IOException e) {
      throw new UncheckedIOException("the registry could not be unpacked: " + e.getMessage(), e);
    }
  }

  private static void unpack(Path archive, Path to) throws IOException {
    try (InputStream in = new GZIPInputStream(Files.newInputStream(archive))) {
      Tar.unpack(in, to);
    }
  }
}
