package dev.outbox.embedded;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A RabbitMQ that can be started on this machine, with the Erlang that it needs.
 *
 * @param version as {@code 3.10.8}
 * @param scripts the folder with {@code rabbitmq-server} and {@code rabbitmqctl}
 * @param erlang where an unpacked Erlang is; empty when the shell finds an installed one
 */
record RabbitInstallation(String version, Path scripts, Optional<Path> erlang) {
  private static final String PROPERTY = "outbox.embedded.rabbitmq";
  private static final String SERVER = "rabbitmq-server";
  private static final Pattern HOME = Pattern.compile("rabbitmq_server-(\\d[^/]*)");

  /** Of Debian and Ubuntu; its other dependencies are for what installs and guards a service. */
  private static final List<String> PACKAGES =
      List.of(
          "rabbitmq-server",
          "erlang-base",
          "erlang-asn1",
          "erlang-crypto",
          "erlang-eldap",
          "erlang-inets",
          "erlang-mnesia",
          "erlang-os-mon",
          "erlang-parsetools",
          "erlang-public-key",
          "erlang-runtime-tools",
          "erlang-ssl",
          "erlang-syntax-tools",
          "erlang-tools",
          "erlang-xmerl");

  /** Debian's {@code rabbitmq-server} of the path changes the user; this one does not. */
  private static final Path DEBIAN = Path.of("/usr/lib/rabbitmq/bin");

  /**
   * The one that the property names; else an installed one; else that of the system's packages,
   * which are downloaded and unpacked, once, without installing them.
   *
   * @throws UnsupportedOperationException when there is none for this machine, with the reason
   */
  static RabbitInstallation find() {
    String named = Machine.setting(PROPERTY);
    if (named != null) {
      return of(Path.of(named).resolve(SERVER))
          .orElseThrow(
              () ->
                  new IllegalArgumentException(
                      "%s is %s, which is not the sbin folder of a RabbitMQ: name the one with %s in it"
                          .formatted(Machine.givenBy(PROPERTY), named, SERVER)));
    }
    return Stream.concat(Stream.of(DEBIAN.resolve(SERVER)), Machine.programs(SERVER))
        .flatMap(program -> of(program).stream())
        .findFirst()
        .orElseGet(RabbitInstallation::unpacked);
  }

  /** The folder of the scripts tells the version; a distribution's wrapper is none of them. */
  private static Optional<RabbitInstallation> of(Path program) {
    try {
      Path scripts = program.toRealPath().resolve("..").normalize();
      Matcher home = HOME.matcher(scripts.toString());
      return home.find() && Files.isExecutable(scripts.resolve("rabbitmqctl"))
          ? Optional.of(new RabbitInstallation(home.group(1), scripts, Optional.empty()))
          : Optional.empty();
    } catch (IOException e) {
      return Optional.empty(); // there is no such program
    }
  }

  private static RabbitInstallation unpacked() {
    Path root = DebianPackages.unpacked(PACKAGES, RabbitInstallation::letErlangMove);
    try (Stream<Path> homes = Files.list(root.resolve("usr/lib/rabbitmq/lib"))) {
      RabbitInstallation found =
          homes
              .flatMap(home -> of(home.resolve("sbin").resolve(SERVER)).stream())
              .findFirst()
              .orElseThrow();
      Path erlang = root.resolve("usr/lib/erlang");
      checkLibraries(erlang);
      return new RabbitInstallation(found.version, found.scripts, Optional.of(erlang));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What else the packages depend on is there with apt-get, or nearly so. */
  private static void checkLibraries(Path erlang) throws IOException {
    try (Stream<Path> files = Files.walk(erlang)) {
      files
          .filter(file -> file.endsWith("beam.smp") || file.endsWith("crypto.so"))
          .forEach(file -> SharedLibraries.check("RabbitMQ", file));
    }
  }

  /** Its script has the place where the package is installed. */
  private static void letErlangMove(Path root) throws IOException {
    Path erl = root.resolve("usr/lib/erlang/bin/erl");
    String script = Files.readString(erl);
    Files.writeString(erl, script.replace("ROOTDIR=/usr/lib/erlang", "ROOTDIR=$ERL_UNPACKED_IN"));
  }

  String script(String name) {
    return scripts.resolve(name).toString();
  }

  /** A program of its Erlang. */
  String program(String name) {
    return erlang.map(home -> home.resolve("bin").resolve(name).toString()).orElse(name);
  }

  /** What its programs need to know. */
  Map<String, String> environment() {
    Map<String, String> all = new TreeMap<>();
    erlang.ifPresent(
        home -> {
          all.put("ERL_UNPACKED_IN", home.toString());
          all.put("PATH", home.resolve("bin") + ":" + System.getenv("PATH"));
        });
    return all;
  }
}
