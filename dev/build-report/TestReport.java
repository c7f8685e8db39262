import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Instant;
import java.util.ArrayList;
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
 * test that did not run for one that passed, and a failure is read at the end of a long log. Reads
 * Surefire's reports of all modules.
 *
 * <pre>
 * java TestReport.java ROOT [SINCE]
 * SINCE  leave out reports from before, as 2026-01-31T10:00:00Z
 * </pre>
 */
public final class TestReport {
  private static final String RULE = "=".repeat(100);

  /** Of what a failed test said. */
  private static final int MOST_LINES = 20;

  private final Path root;
  private final Instant since;
  private int tests;
  private int failures;
  private int errors;
  private int skipped;

  /** By module and suite, then by reason: the names of the skipped tests. */
  private final Map<String, Map<String, List<String>>> skips = new TreeMap<>();

  private final List<String> failed = new ArrayList<>();

  private TestReport(Path root, Instant since) {
    this.root = root;
    this.since = since;
  }

  public static void main(String[] arguments) throws Exception {
    Path root = Path.of(arguments[0]).toAbsolutePath().normalize();
    TestReport report =
        new TestReport(root, arguments.length > 1 ? Instant.parse(arguments[1]) : Instant.MIN);
    for (Path file : report.files()) {
      report.read(file);
    }
    report.print();
  }

  private List<Path> files() throws IOException {
    List<Path> files = new ArrayList<>();
    Files.walkFileTree(
        root,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
            boolean skip =
                !directory.equals(root)
                    && directory.getFileName().toString().matches("\\..*|src|classes");
            return skip ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            if (file.getParent().endsWith("target/surefire-reports")
                && file.getFileName().toString().matches("TEST-.*\\.xml")
                && !attributes.lastModifiedTime().toInstant().isBefore(since)) {
              files.add(file);
            }
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException e) {
            return FileVisitResult.CONTINUE; // what a running test has just removed
          }
        });
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
    tests += count(suite, "tests");
    failures += count(suite, "failures");
    errors += count(suite, "errors");
    skipped += count(suite, "skipped");
    Path module = root.relativize(file.getParent().getParent().getParent());
    String name = module + ", " + suite.getAttribute("name").replaceAll(".*\\.", "");
    NodeList cases = suite.getElementsByTagName("testcase");
    if (cases.getLength() == 0) {
      tests++;
      skipped++;
      skip(name, reasonSaid(suite), "");
    }
    for (int i = 0; i < cases.getLength(); i++) {
      Element test = (Element) cases.item(i);
      if (test.getElementsByTagName("skipped").item(0) instanceof Element skip) {
        skip(name, reason(skip), test.getAttribute("name"));
      }
      for (String kind : List.of("failure", "error")) {
        if (test.getElementsByTagName(kind).item(0) instanceof Element failure) {
          failed.add(name + ", " + test.getAttribute("name") + start(failure.getTextContent()));
        }
      }
    }
  }

  private static String start(String text) {
    return text.strip()
        .lines()
        .limit(MOST_LINES)
        .map(line -> System.lineSeparator() + "  " + line)
        .collect(Collectors.joining());
  }

  private void skip(String suite, String reason, String test) {
    skips
        .computeIfAbsent(suite, m -> new TreeMap<>())
        .computeIfAbsent(reason, r -> new ArrayList<>())
        .add(test.isEmpty() ? "the whole suite" : test);
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

  private void print() {
    System.out.println(RULE);
    System.out.println(
        skips.isEmpty()
            ? "NO TEST WAS SKIPPED"
            : "SKIPPED TESTS: these did not run, each with the reason");
    skips.forEach(
        (suite, reasons) -> {
          System.out.println(suite);
          reasons.forEach(
              (reason, names) ->
                  System.out.printf(
                      "  %s: %s%n",
                      names.size() == 1 ? names.get(0) : names.size() + " tests", reason));
        });
    System.out.println(RULE);
    if (!failed.isEmpty()) {
      System.out.println("FAILED TESTS:");
      failed.forEach(System.out::println);
      System.out.println(RULE);
    }
    System.out.printf(
        "Tests run: %d, Failures: %d, Errors: %d, Skipped: %d%n", tests, failures, errors, skipped);
    int unsuccessful = failures + errors;
    System.out.printf(
        "%d passed, %d failed, %d skipped%n",
        tests - unsuccessful - skipped, unsuccessful, skipped);
  }
}
