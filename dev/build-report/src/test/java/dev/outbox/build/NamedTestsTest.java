package dev.outbox.build;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Tests that scripts and documents name")
class NamedTestsTest {
  private static final Path ROOT = Path.of("../..");

  /** Neither an annotation nor a pattern. */
  private static final Pattern NAMED = Pattern.compile("(?<![@*\\w])[A-Z]\\w*Test\\b");

  private static final Set<String> NO_SOURCES = Set.of("target", ".git", "node_modules");

  @Test
  @DisplayName("exist")
  void exist() throws IOException {
    Set<String> tests = new TreeSet<>();
    Set<String> named = new TreeSet<>();
    for (Path file : files(ROOT)) {
      String name = file.getFileName().toString();
      if (name.endsWith("Test.java")) {
        tests.add(name.substring(0, name.length() - ".java".length()));
      } else if (name.endsWith(".md") || file.startsWith(ROOT.resolve(".ci"))) {
        named.addAll(
            NAMED.matcher(Files.readString(file)).results().map(MatchResult::group).toList());
      }
    }
    assertThat(named).contains("PostgresStoreTest", "HostileRowsTest");
    assertThat(named.stream().filter(Predicate.not(tests::contains)).toList()).isEmpty();
  }

  private static List<Path> files(Path folder) throws IOException {
    List<Path> paths;
    try (Stream<Path> in = Files.list(folder)) {
      paths = in.toList();
    }
    List<Path> files = new ArrayList<>();
    for (Path path : paths) {
      if (Files.isRegularFile(path)) {
        files.add(path);
      } else if (!NO_SOURCES.contains(path.getFileName().toString())) {
        files.addAll(files(path));
      }
    }
    return files;
  }
}
