import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/**
 * Says which tests a build skipped and why, which failed, and how many ran: so that nobody takes a
 * test that did not run for one that passed, and a long log need not be searched for the one that
 * failed. Reads Surefire's reports of all modules.
 *
 * <pre>
 * java TestReport.java ROOT [SINCE] [--counts]
 * SINCE     leave out reports from before, as 2026-01-31T10:00:00Z
 * --counts  only the failures and the counts
 * </pre>
 */
public final class TestReport {
  private static final String RULE = "=".repeat(100);
  private static final int TRACE_LINES = 20;

  private final Path root;
  private final Instant since;
  private int tests;
  private int failures;
  private int errors;
  private int skipped;
  private int reports;
  private int older;

  /** By module and suite, then by reason: the names of the skipped tests. */
  private final Map<String, Map<String, List<String>>> skips = new TreeMap<>();

  /** For each test that failed: its name and the beginning of its stack trace. */
  private final List<String> failedTests = new ArrayList<>();

  /** By module and suite, how many tests it has. */
  private final Map<String, Integer> sizes = new TreeMap<>();

  private TestReport(Path root, Instant since) {
    this.root = root;
    this.since = since;
  }

  public static void main(String[] arguments) throws Exception {
    List<String> words = new ArrayList<>(List.of(arguments));
    boolean countsOnly = words.remove("--counts");
    Path root = Path.of(words.get(0)).toAbsolutePath().normalize();
    TestReport report =
        new TestReport(root, words.size() > 1 ? Instant.parse(words.get(1)) : Instant.MIN);
    for (Path file : report.files()) {
      report.read(file);
    }
    if (!countsOnly) {
      report.printSkips();
    }
    report.printFailures();
    report.printCounts(countsOnly);
  }

  private List<Path> files() throws IOException {
    List<Path> files = new ArrayList<>();
    Files.walkFileTree(
        root,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
            Path name = directory.getFileName();
            boolean skip =
                name != null
                    && (name.toString().startsWith(".") && !directory.equals(root)
                        || name.toString().equals("src")
                        || name.toString().equals("classes"));
            return skip ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            if (file.getParent().endsWith("target/surefire-reports")
                && file.getFileName().toString().matches("TEST-.*\\.xml")) {
              boolean current = !attributes.lastModifiedTime().toInstant().isBefore(since);
              older += current ? 0 : 1;
              if (current) {
                files.add(file);
              }
            }
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException e) {
            return FileVisitResult.CONTINUE; // what a running test has just removed
          }
        });
    files.sort(null);
    return files;
  }

  private void read(Path file) throws Exception {
    DocumentBuilder builder = DocumentBuilderFactory.newInstance().newDocumentBuilder();
    builder.setErrorHandler(null);
    Element suite;
    try {
      suite = builder.parse(file.toFile()).getDocumentElement();
    } catch (SAXException e) {
      System.out.println("Not a whole report, counted as one error: " + root.relativize(file));
      tests++;
      errors++;
      return;
    }
    reports++;
    tests += count(suite, "tests");
    failures += count(suite, "failures");
    errors += count(suite, "errors");
    skipped += count(suite, "skipped");
    Path module = root.relativize(file.getParent().getParent().getParent());
    String name = (module.toString().isEmpty() ? "." : module) + ", " + suite.getAttribute("name").replaceAll(".*\\.", "");
    NodeList cases = suite.getElementsByTagName("testcase");
    sizes.put(name, Math.max(1, cases.getLength()));
    if (cases.getLength() == 0) {
      tests++;
      skipped++;
      skip(name, reasonSaid(suite), "the whole suite");
    }
    for (int i = 0; i < cases.getLength(); i++) {
      Element test = (Element) cases.item(i);
      if (test.getElementsByTagName("skipped").item(0) instanceof Element skip) {
        String testName = test.getAttribute("name");
        skip(name, reason(skip), testName.isEmpty() ? "the whole suite" : testName);
      }
      addFailure(name, test, "failure");
      addFailure(name, test, "error");
    }
  }

  private void addFailure(String suite, Element test, String kind) {
    if (test.getElementsByTagName(kind).item(0) instanceof Element failure) {
      String trace =
          failure
              .getTextContent()
              .strip()
              .lines()
              .limit(TRACE_LINES)
              .map("    "::concat)
              .collect(Collectors.joining("\n"));
      failedTests.add("%s, %s%n%s".formatted(suite, test.getAttribute("name"), trace));
    }
  }

  private void skip(String suite, String reason, String test) {
    skips
        .computeIfAbsent(suite, m -> new TreeMap<>())
        .computeIfAbsent(reason, r -> new ArrayList<>())
        .add(test);
  }

  /** Of a suite that gave up before its first test, whose report has no reason: what it logged. */
  private static String reasonSaid(Element suite) {
    Matcher said = Pattern.compile("SKIPPED: (.*)").matcher(suite.getTextContent());
    return said.find() ? said.group(1) : "no test of it ran";
  }

  private static int count(Element suite, String attribute) {
    return Integer.parseInt(suite.getAttribute(attribute));
  }

  private static String reason(Element skip) {
    String text = skip.getAttribute("message");
    if (text.isBlank()) {
      text = skip.getTextContent().strip().lines().findFirst().orElse("");
    }
    text = text.replaceFirst("^[\\w.$]+(Exception|Error): ", "");
    text = text.replaceFirst("^(?i)(assumption failed|skipped): ", "");
    return text.isBlank() ? "no reason given" : text;
  }

  private void printSkips() {
    System.out.println(RULE);
    if (skips.isEmpty()) {
      System.out.println("NO TEST WAS SKIPPED");
    } else {
      System.out.println("SKIPPED TESTS: these did not run, each with the reason");
    }
    skips.forEach(
        (suite, reasons) -> {
          System.out.println();
          System.out.println(suite);
          reasons.forEach((reason, names) -> print(reason, names, sizes.get(suite)));
        });
    System.out.println(RULE);
  }

  private void printFailures() {
    if (!failedTests.isEmpty()) {
      System.out.println("FAILED TESTS: each with the beginning of its stack trace");
      failedTests.forEach(System.out::println);
      System.out.println(RULE);
    }
  }

  private static void print(String reason, List<String> names, int ofAll) {
    if (names.size() == ofAll) {
      System.out.printf("  the whole suite of %d skipped: %s%n", ofAll, reason);
      return;
    }
    System.out.printf("  %d skipped: %s%n", names.size(), reason);
    StringBuilder line = new StringBuilder("     ");
    for (String name : new LinkedHashSet<>(names)) {
      if (line.length() + name.length() > 95) {
        System.out.println(line);
        line = new StringBuilder("     ");
      }
      line.append(' ').append(name);
    }
    System.out.println(line);
  }

  private void printCounts(boolean plain) {
    System.out.printf(
        "Tests run: %d, Failures: %d, Errors: %d, Skipped: %d%n", tests, failures, errors, skipped);
    int failed = failures + errors;
    int passed = tests - failed - skipped;
    System.out.printf("%d passed, %d failed, %d skipped%n", passed, failed, skipped);
    if (!plain) {
      System.out.printf(
          "(%d reports of this build%s)%n",
          reports, older == 0 ? "" : ", " + older + " older ones left out");
    }
  }
}
