package dev.outbox.example.producers;

import dev.outbox.embedded.DebianPackages;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.opentest4j.TestAbortedException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The languages that have an example, and how it is run. */
enum Language {
  PYTHON(
      List.of("python3", "/usr/bin/python3"),
      List.of("-c", "import psycopg"),
      List.of("append.py"),
      Map.of("PYTHONDONTWRITEBYTECODE", "1"),
      "python3 python3-psycopg"),
  SQLALCHEMY(
      List.of("python3", "/usr/bin/python3"),
      List.of("-c", "import sqlalchemy, psycopg2"),
      List.of("append.py"),
      Map.of("PYTHONDONTWRITEBYTECODE", "1"),
      "python3 python3-sqlalchemy python3-psycopg2"),
  NODE(
      List.of("node"),
      List.of("-e", "require('pg')"),
      List.of("append.js"),
      Map.of(),
      "nodejs") {
    /** Debian's package of the driver does not go with other packages of Node.js. */
    @Override
    Map<String, String> drivers() {
      Path files =
          DebianPackages.unpacked(
              List.of("node-pg", "node-split2", "node-readable-stream", "node-xtend"));
      return Map.of("NODE_PATH", files.resolve("usr/share/nodejs").toString());
    }
  },
  GO(
      List.of("go"),
      List.of("list", "github.com/lib/pq"),
      List.of("run", "main.go", "outbox.go"),
      // Debian's packages are sources of GOPATH, and there is no proxy for modules everywhere.
      Map.of("GO111MODULE", "off", "GOPATH", "/usr/share/gocode", "GOFLAGS", ""),
      "golang-go golang-github-lib-pq-dev"),
  PHP(
      List.of("php"),
      List.of("-r", "exit(extension_loaded('pdo_pgsql') ? 0 : 1);"),
      List.of("append.php"),
      Map.of(),
      "php-cli php-pgsql"),
  RUBY(
      List.of("ruby"),
      List.of("-e", "require 'pg'"),
      List.of("append.rb"),
      Map.of(),
      "ruby ruby-pg");

  private static final Logger log = LoggerFactory.getLogger(Language.class);
  private static final long PATIENCE_MINUTES = 2;

  private final List<String> programs;
  private final List<String> probe;
  private final List<String> example;
  private final Map<String, String> environment;
  private final String packages;

  /**
   * @param programs the first that the probe succeeds with runs the example
   */
  Language(
      List<String> programs,
      List<String> probe,
      List<String> example,
      Map<String, String> environment,
      String packages) {
    this.programs = programs;
    this.probe = probe;
    this.example = example;
    this.environment = environment;
    this.packages = packages;
  }

  /** What each of its sources and descriptions is in. */
  Path folder() {
    return Path.of(name().toLowerCase(Locale.ROOT));
  }

  /**
   * Runs the example.
   *
   * @param lines what it reads
   * @param database where its database is
   * @param directory for what it reads and says
   * @return the lines that it says
   * @throws TestAbortedException where the language or its driver is not installed
   */
  List<String> append(List<String> lines, Map<String, String> database, Path directory)
      throws IOException, InterruptedException {
    Map<String, String> variables = new HashMap<>(environment);
    String program = program(variables, directory);
    variables.putAll(database);
    Path in = Files.write(directory.resolve("in"), lines);
    Path errors = directory.resolve("errors");
    Path out = directory.resolve("out");
    int code = run(program, example, variables, in, out, errors);
    if (code != 0) {
      throw new IllegalStateException(
          "the example ended with code %d and said: %s".formatted(code, Files.readString(errors)));
    }
    return Files.readAllLines(out);
  }

  /** Where a driver is that is not installed: variables that say so; none when it is nowhere. */
  Map<String, String> drivers() {
    return Map.of();
  }

  /** What runs the example; adds the variables that it needs for it. */
  private String program(Map<String, String> variables, Path directory)
      throws IOException, InterruptedException {
    Optional<String> installed = withDriver(variables, directory);
    if (installed.isPresent()) {
      return installed.get();
    }
    String missing = "apt-get install " + packages;
    if (programs.stream().anyMatch(program -> found(program).isPresent())) {
      try {
        variables.putAll(drivers());
      } catch (UnsupportedOperationException e) {
        missing = e.getMessage();
      }
    }
    Optional<String> unpacked = withDriver(variables, directory);
    if (unpacked.isPresent()) {
      return unpacked.get();
    }
    String reason = "no producer in %s to test with: %s".formatted(folder(), missing);
    log.warn("Tests are SKIPPED: {}", reason);
    throw new TestAbortedException(reason);
  }

  private Optional<String> withDriver(Map<String, String> variables, Path directory)
      throws IOException, InterruptedException {
    Path nothing = Files.write(directory.resolve("nothing"), new byte[0]);
    Path said = directory.resolve("said");
    for (String program : programs) {
      Optional<Path> found = found(program);
      if (found.isPresent()
          && run(found.get().toString(), probe, variables, nothing, said, said) == 0) {
        return Optional.of(found.get().toString());
      }
    }
    return Optional.empty();
  }

  private static Optional<Path> found(String program) {
    return List.of(System.getenv().getOrDefault("PATH", "").split(":", -1)).stream()
        .map(folder -> Path.of(folder).resolve(program))
        .filter(Files::isExecutable)
        .findFirst();
  }

  private int run(
      String program,
      List<String> arguments,
      Map<String, String> variables,
      Path in,
      Path out,
      Path errors)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(program));
    command.addAll(arguments);
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(folder().toFile())
            .redirectInput(in.toFile())
            .redirectOutput(out.toFile());
    if (out.equals(errors)) {
      builder.redirectErrorStream(true);
    } else {
      builder.redirectError(errors.toFile());
    }
    builder.environment().putAll(variables);
    Process process = builder.start();
    if (!process.waitFor(PATIENCE_MINUTES, TimeUnit.MINUTES)) {
      process.destroyForcibly().waitFor();
      throw new IllegalStateException(
          "%s did not end within %d minutes".formatted(command, PATIENCE_MINUTES));
    }
    return process.exitValue();
  }
}
