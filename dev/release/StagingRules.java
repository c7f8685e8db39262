import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.xpath.XPath;
import javax.xml.xpath.XPathConstants;
import javax.xml.xpath.XPathFactory;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/**
 * What Maven Central asks of a staging repository, and what we ask besides: just the modules of
 * docs/modules.md, module names, no package in two jars, and the same bytes from another build.
 * Signatures are only looked for.
 *
 * <pre>
 * java StagingRules.java CHECKOUT [ANOTHER]
 * </pre>
 */
public final class StagingRules {
  private static final Map<String, String> CHECKSUMS = Map.of(".md5", "MD5", ".sha1", "SHA-1");
  private static final Pattern BESIDE = Pattern.compile(".*\\.(asc|md5|sha1)");

  private final XPath xpath = XPathFactory.newInstance().newXPath();
  private final List<String> broken = new ArrayList<>();
  private final Path staging;

  /** By artifact: the folder of its one version. */
  private final Map<String, Path> artifacts = new TreeMap<>();

  private final Map<String, String> jarOfPackage = new TreeMap<>();
  private final Map<String, String> jarOfModule = new TreeMap<>();

  private StagingRules(Path checkout) throws IOException {
    staging = staging(checkout);
    for (Path pom : files(staging, file -> file.toString().endsWith(".pom"))) {
      artifacts.put(pom.getParent().getParent().getFileName().toString(), pom.getParent());
    }
  }

  public static void main(String[] arguments) throws Exception {
    Path checkout = Path.of(arguments[0]);
    StagingRules rules = new StagingRules(checkout);
    rules.look(checkout);
    if (arguments.length > 1) {
      rules.compare(staging(Path.of(arguments[1])));
    }
    rules.broken.forEach(line -> System.err.println("BROKEN: " + line));
    System.out.printf(
        "%d artifacts in %s, %d rules broken%n",
        rules.artifacts.size(), rules.staging, rules.broken.size());
    System.exit(rules.broken.isEmpty() ? 0 : 1);
  }

  private static Path staging(Path checkout) {
    return checkout.resolve("target/staging");
  }

  private void check(boolean right, String rule, Object... values) {
    if (!right) {
      broken.add(rule.formatted(values));
    }
  }

  private void look(Path checkout) throws Exception {
    check(
        artifacts.keySet().equals(documented(checkout)),
        "published are %s, docs/modules.md has %s",
        artifacts.keySet(),
        documented(checkout));
    for (Map.Entry<String, Path> artifact : artifacts.entrySet()) {
      look(artifact.getKey(), artifact.getValue());
    }
  }

  /** The artifacts in the table of docs/modules.md, down to those that are not for production. */
  private static Set<String> documented(Path checkout) throws IOException {
    String page = Files.readString(checkout.resolve("docs/modules.md"));
    return Pattern.compile("(?m)^\\| `outbox-[^|]*")
        .matcher(page.substring(0, page.indexOf("(../dev)")))
        .results()
        .flatMap(row -> Pattern.compile("outbox-[\\w-]+").matcher(row.group()).results())
        .map(name -> name.group())
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private void look(String artifact, Path folder) throws Exception {
    String version = folder.getFileName().toString();
    String base = artifact + "-" + version;
    check(!version.endsWith("SNAPSHOT"), "%s is a snapshot", base);
    Document pom =
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(folder.resolve(base + ".pom").toFile());
    boolean jar = look(base, version, pom);

    Set<String> expected = new TreeSet<>(Set.of(base + ".pom", base + "-cyclonedx.json"));
    if (jar) {
      expected.addAll(Set.of(base + ".jar", base + "-sources.jar", base + "-javadoc.jar"));
    }
    if (artifact.equals("outbox-cli")) {
      expected.add(base + ".tar.gz");
    }
    Set<String> there =
        files(folder, file -> !BESIDE.matcher(file.toString()).matches()).stream()
            .map(file -> file.getFileName().toString())
            .collect(Collectors.toCollection(TreeSet::new));
    check(there.equals(expected), "%s has the files %s instead of %s", base, there, expected);
    for (String name : there) {
      lookBeside(folder.resolve(name));
    }
    if (jar) {
      lookInto(folder.resolve(base + ".jar"));
    }
  }

  /** Returns whether it is the pom of a jar. */
  private boolean look(String base, String version, Document pom) throws Exception {
    for (String needed :
        List.of(
            "name", "description", "url", "licenses/license/url", "developers/developer/name")) {
      check(!text(pom, needed).isBlank(), "the pom of %s has no %s", base, needed);
    }
    for (String needed : List.of("scm/url", "scm/connection")) {
      check(!text(pom, needed).isBlank(), "the pom of %s has no %s", base, needed);
    }
    check(text(pom, "parent/artifactId").isEmpty(), "the pom of %s has a parent", base);
    check(text(pom, "repositories").isEmpty(), "the pom of %s names a repository", base);
    NodeList dependencies = (NodeList) xpath.evaluate("//dependency", pom, XPathConstants.NODESET);
    for (int i = 0; i < dependencies.getLength(); i++) {
      Element dependency = (Element) dependencies.item(i);
      String name = child(dependency, "artifactId");
      String wanted = child(dependency, "version").replace("${project.version}", version);
      check(
          !wanted.isEmpty() && !wanted.contains("$") && !wanted.endsWith("SNAPSHOT"),
          "%s needs %s in the version '%s'",
          base,
          name,
          wanted);
      check(!child(dependency, "scope").equals("test"), "%s needs %s for tests", base, name);
      if (child(dependency, "groupId").equals("dev.outbox")) {
        check(
            artifacts.containsKey(name) && artifacts.get(name).endsWith(wanted),
            "%s needs %s %s, which is not published",
            base,
            name,
            wanted);
      }
    }
    return !text(pom, "packaging").equals("pom");
  }

  private String text(Document pom, String path) throws Exception {
    return xpath.evaluate("/project/" + path, pom);
  }

  private String child(Element dependency, String name) throws Exception {
    return xpath.evaluate(name, dependency).strip();
  }

  private void lookBeside(Path file) throws Exception {
    check(Files.exists(Path.of(file + ".asc")), "%s is not signed", file);
    for (Map.Entry<String, String> checksum : CHECKSUMS.entrySet()) {
      byte[] digest =
          MessageDigest.getInstance(checksum.getValue()).digest(Files.readAllBytes(file));
      Path beside = Path.of(file + checksum.getKey());
      check(
          Files.exists(beside)
              && Files.readString(beside).strip().equals(HexFormat.of().formatHex(digest)),
          "%s has no right %s",
          file,
          checksum.getValue());
    }
  }

  private void lookInto(Path path) throws IOException {
    String name = path.getFileName().toString();
    try (JarFile jar = new JarFile(path.toFile())) {
      String module = jar.getManifest().getMainAttributes().getValue("Automatic-Module-Name");
      check(module != null && !module.equals("dev.outbox.unnamed"), "%s has no module name", name);
      String other = jarOfModule.put(String.valueOf(module), name);
      check(other == null, "%s and %s are both the module %s", name, other, module);
      check(jar.getEntry("META-INF/THIRD-PARTY.txt") != null, "%s names no third parties", name);
      jar.stream()
          .map(entry -> entry.getName())
          .filter(entry -> entry.endsWith(".class") && entry.contains("/"))
          .map(entry -> entry.substring(0, entry.lastIndexOf('/')))
          .distinct()
          .forEach(
              found -> {
                String before = jarOfPackage.put(found, name);
                check(before == null, "the package %s is in %s and in %s", found, before, name);
              });
    }
  }

  private void compare(Path another) throws IOException {
    Map<String, Path> here = byName(staging);
    Map<String, Path> there = byName(another);
    check(
        here.keySet().equals(there.keySet()),
        "another build has other files: %s instead of %s",
        there.keySet(),
        here.keySet());
    for (Map.Entry<String, Path> file : here.entrySet()) {
      Path same = there.get(file.getKey());
      check(
          same != null && Files.mismatch(file.getValue(), same) == -1,
          "another build makes other bytes of %s",
          file.getKey());
    }
  }

  /** Without signatures: each has a time of its own. */
  private static Map<String, Path> byName(Path staging) throws IOException {
    return files(staging, file -> !file.toString().endsWith(".asc")).stream()
        .collect(
            Collectors.toMap(
                file -> staging.relativize(file).toString(),
                file -> file,
                (a, b) -> a,
                TreeMap::new));
  }

  private static List<Path> files(Path folder, Predicate<Path> which) throws IOException {
    try (Stream<Path> all = Files.walk(folder)) {
      return all.filter(Files::isRegularFile).filter(which).sorted().toList();
    }
  }
}
