package dev.outbox.example.readme;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.example.readme.Documents.Block;
import dev.outbox.spi.publisher.PublisherProvider;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * What the documents show is what the other tests of this module compile and run. Their links are
 * checked in dev/site.
 */
class DocumentsTest {
  private static final Set<String> COPIED = Set.of("java", "js", "sql", "xml");
  private static final Set<String> CHECKED = Set.of("sh", "properties", "text");

  private final Map<String, String> helps = new HashMap<>();

  @TestFactory
  Stream<DynamicTest> eachBlockIsARegionOfASource() throws IOException {
    Map<String, String> regions = Documents.regions();
    return blocks(COPIED)
        .map(block -> DynamicTest.dynamicTest("" + block, () -> check(block, regions)));
  }

  private static void check(Block block, Map<String, String> regions) throws IOException {
    if (regions.containsValue(Regions.normal(block.text())) || isSource(block)) {
      return;
    }
    String text = Regions.normal(block.text());
    regions.entrySet().stream()
        .max(Comparator.comparingLong(region -> linesInCommon(region.getValue(), text)))
        .filter(region -> linesInCommon(region.getValue(), text) > 1)
        .ifPresent(
            region ->
                assertThat(text)
                    .as("%s, as in %s", block, region.getKey())
                    .isEqualTo(region.getValue()));
    throw new AssertionError(
        "%s is in no source under examples/: mark one with // tag::name and // end::name"
            .formatted(block));
  }

  /**
   * Debezium's page is the source itself: the tests of its engine read a block from there by the
   * comment that it begins with.
   */
  private static boolean isSource(Block block) throws IOException {
    Matcher comment = Pattern.compile("(?:--|#) (([^,\n]+)[^\n]*)").matcher(block.text());
    if (!block.document().endsWith("debezium.md") || !comment.lookingAt()) {
      return false;
    }
    // As "age, PostgreSQL", or "age, " and the database's name.
    Pattern reads =
        Pattern.compile(
            "Page\\.(block|properties)\\(\\s*\"(%s\"|%s, \"\\s*\\+ (source\\.)?label\\(\\))"
                .formatted(Pattern.quote(comment.group(1)), Pattern.quote(comment.group(2))));
    try (Stream<Path> files =
        Files.walk(Documents.ROOT.resolve("integrations/debezium/engine/src/test/java"))) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        if (reads.matcher(Files.readString(file)).find()) {
          return true;
        }
      }
    }
    return false;
  }

  private static long linesInCommon(String one, String other) {
    Set<String> lines = other.lines().map(String::strip).collect(Collectors.toSet());
    return one.lines().map(String::strip).filter(lines::contains).distinct().count();
  }

  @Test
  void everyBlockSaysItsLanguage() throws IOException {
    Set<String> known = new HashSet<>(COPIED);
    known.addAll(CHECKED);
    assertThat(Documents.blocks()).isNotEmpty().allMatch(block -> known.contains(block.language()));
  }

  /** Each command and option of ./outbox is one that its help names. */
  @TestFactory
  Stream<DynamicTest> commandsExist() throws IOException {
    return blocks(Set.of("sh"))
        .flatMap(block -> block.text().replace("\\\n", " ").lines())
        .filter(line -> line.startsWith("./outbox "))
        .distinct()
        .map(line -> DynamicTest.dynamicTest(line, () -> checkCommand(line)));
  }

  private void checkCommand(String line) throws Exception {
    List<String> command = new ArrayList<>();
    List<String> options = new ArrayList<>();
    for (String word : line.replaceAll(" #.*| >.*", "").split(" +", -1)) {
      if (word.startsWith("--")) {
        options.add(word);
      } else if (options.isEmpty() && word.matches("[a-z-]+")) {
        command.add(word);
      }
    }
    String help = help(command);
    // Words behind the command are its arguments, which its help names too.
    while (!help.contains("Usage: outbox " + String.join(" ", command))) {
      options.add(command.remove(command.size() - 1));
    }
    assertThat(command).isNotEmpty();
    options.add("Usage: outbox " + String.join(" ", command));
    assertThat(help).contains(options);
  }

  /** The help of the longest part of the words that is a command. */
  private String help(List<String> words) throws Exception {
    String known = helps.get(words.toString());
    if (known == null) {
      List<String> java =
          new ArrayList<>(List.of(System.getProperty("java.home") + "/bin/java", "-cp"));
      java.addAll(List.of(System.getProperty("java.class.path"), "dev.outbox.dev.DevMain"));
      java.addAll(words);
      java.add("--help");
      Process process = new ProcessBuilder(java).redirectErrorStream(true).start();
      known = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(process.waitFor()).as(known).isZero();
      helps.put(words.toString(), known);
    }
    return known;
  }

  /** Those of the relay's file; others are copied from an example, as code is. */
  @Test
  void relayPropertiesExist() throws IOException {
    Set<String> copied = new HashSet<>(Documents.regions().values());
    String explained;
    try (InputStream in = getClass().getResourceAsStream("/dev/outbox/cli/relay.properties")) {
      explained = new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
    List<String> lines = new ArrayList<>();
    for (Block block : blocks(Set.of("properties")).toList()) {
      if (!copied.contains(Regions.normal(block.text())) && !isSource(block)) {
        block.text().lines().forEach(lines::add);
      }
    }
    assertThat(lines)
        .isNotEmpty()
        .filteredOn(line -> !line.isBlank() && !line.startsWith("#"))
        .map(line -> line.substring(0, line.indexOf('=')))
        .allMatch(name -> ofPublisher(name) || explained.matches("(?s).*\n#? *" + name + "=.*"));
  }

  /** Whether a publisher reads it, as programs find publishers. */
  private static boolean ofPublisher(String name) {
    return ServiceLoader.load(PublisherProvider.class).stream()
        .flatMap(provider -> provider.get().properties().stream())
        .anyMatch(known -> known.endsWith(".") ? name.startsWith(known) : name.equals(known));
  }

  private static Stream<Block> blocks(Set<String> languages) throws IOException {
    return Documents.blocks().stream().filter(block -> languages.contains(block.language()));
  }
}
