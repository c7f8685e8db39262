package dev.outbox.build;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The classes of all modules, as the build has just compiled them. */
@DisplayName("Packages")
class PackagesTest {
  private static final Path ROOT = Path.of("../..");

  /** What users deploy: the modules in these folders, and of those at the top these. */
  private static final Set<String> GROUPS =
      Set.of("stores", "publishers", "integrations", "spring");

  private static final Set<String> AT_THE_TOP = Set.of("outbox-api", "outbox-relay");

  private static final Set<String> FOR_TESTS = Set.of("integrations/testing", "spring/test");

  private static final JavaClasses ALL = of(modules());
  private static final JavaClasses OURS =
      of(modules().stream().filter(PackagesTest::isProduct).toList());

  /** All types and packages; a type in another one has a dot before its name. */
  private static final Set<String> NAMES =
      ALL.stream()
          .flatMap(type -> Stream.of(type.getPackageName(), type.getName().replace('$', '.')))
          .collect(Collectors.toSet());

  /** In a comment a type, by its simple or its full name, or a package. */
  private static final Pattern NAMED =
      Pattern.compile("\\{@(?:link|code) (dev\\.outbox[\\w.]*|[A-Z]\\w*)[}# ]");

  private static boolean isProduct(Path module) {
    Path path = ROOT.relativize(module);
    return path.getNameCount() == 1
        ? AT_THE_TOP.contains(path.toString()) || path.toString().startsWith("outbox-store-")
        : GROUPS.contains(path.getName(0).toString()) && !FOR_TESTS.contains(path.toString());
  }

  /** Folders with classes that were compiled from their sources. */
  private static List<Path> modules() {
    try (Stream<Path> files = Files.walk(ROOT, 4)) {
      return files
          .filter(module -> Files.isDirectory(module.resolve("src/main/java")))
          .filter(module -> Files.isDirectory(module.resolve("target/classes")))
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static JavaClasses of(List<Path> modules) {
    return new ClassFileImporter()
        .importPaths(modules.stream().map(module -> module.resolve("target/classes")).toList());
  }

  @Test
  @DisplayName("of all modules are looked at")
  void complete() {
    assertThat(ALL.stream().map(JavaClass::getPackageName).collect(Collectors.toSet()))
        .contains(
            "dev.outbox",
            "dev.outbox.inbox",
            "dev.outbox.spi.publisher",
            "dev.outbox.spi.store",
            "dev.outbox.relay",
            "dev.outbox.payload",
            "dev.outbox.tracing",
            "dev.outbox.ui",
            "dev.outbox.jakarta",
            "dev.outbox.servlet",
            "dev.outbox.consumer.kafka",
            "dev.outbox.debezium",
            "dev.outbox.publisher.core",
            "dev.outbox.publisher.handler",
            "dev.outbox.publisher.http",
            "dev.outbox.publisher.kafka",
            "dev.outbox.publisher.nats",
            "dev.outbox.publisher.rabbitmq",
            "dev.outbox.spring.autoconfigure",
            "dev.outbox.spring.modulith",
            "dev.outbox.tck.store",
            "dev.outbox.tck.inbox",
            "dev.outbox.tck.publisher",
            "dev.outbox.cli",
            "dev.outbox.example.store",
            "dev.outbox.store.core.internal",
            "dev.outbox.store.jdbc.internal",
            "dev.outbox.store.memory",
            "dev.outbox.store.postgres",
            "dev.outbox.store.mysql",
            "dev.outbox.store.sqlserver",
            "dev.outbox.store.mongo",
            "dev.outbox.store.redis");
  }

  @Test
  @DisplayName("are described by types that are there")
  void described() throws IOException {
    List<String> gone = new ArrayList<>();
    for (Path module : modules()) {
      Path sources = module.resolve("src/main/java");
      try (Stream<Path> files = Files.walk(sources)) {
        for (Path file : files.filter(f -> f.endsWith("package-info.java")).toList()) {
          String name = sources.relativize(file).getParent().toString().replace('/', '.');
          gone.addAll(gone(name, Files.readString(file)));
        }
      }
    }
    assertThat(gone).isEmpty();
  }

  /** What a package's comment names that is not there. */
  private static List<String> gone(String name, String comment) {
    return NAMED
        .matcher(comment.replaceAll("\\R \\*", "").replaceAll(" +", " "))
        .results()
        .map(named -> named.group(1))
        .map(named -> named.startsWith("dev.outbox") ? named : name + "." + named)
        .filter(named -> !NAMES.contains(named))
        .toList();
  }

  @Test
  @DisplayName("named internal are used by our stores and our suites alone")
  void internal() {
    noClasses()
        .that()
        .resideOutsideOfPackages("dev.outbox.store..", "dev.outbox.tck..")
        .should()
        .dependOnClassesThat(
            resideInAPackage("dev.outbox..internal..").as("are internal to our stores and suites"))
        .check(ALL);
  }

  @Test
  @DisplayName("have no public type that is internal and used nowhere else")
  void publicForAReason() {
    List<String> idle =
        OURS.stream()
            .filter(type -> type.getPackageName().endsWith(".internal"))
            .filter(type -> type.getModifiers().contains(JavaModifier.PUBLIC))
            .filter(JavaClass::isTopLevelClass)
            .filter(type -> !isUsedElsewhere(type))
            .map(JavaClass::getName)
            .toList();
    assertThat(idle).isEmpty();
  }

  /** Itself, or a type in it. */
  private static boolean isUsedElsewhere(JavaClass type) {
    return OURS.stream()
        .filter(part -> part.equals(type) || part.getName().startsWith(type.getName() + "$"))
        .flatMap(part -> part.getDirectDependenciesToSelf().stream())
        .anyMatch(use -> !use.getOriginClass().getPackageName().equals(type.getPackageName()));
  }

  @Test
  @DisplayName("of the product, and of the suites, do not depend on each other in a circle")
  void cycles() {
    slices().assignedFrom(new ByPackage()).should().beFreeOfCycles().check(OURS);
    slices()
        .assignedFrom(new ByPackage())
        .should()
        .beFreeOfCycles()
        .check(ALL.that(resideInAPackage("dev.outbox.tck..")));
  }

  private static final class ByPackage implements SliceAssignment {
    @Override
    public SliceIdentifier getIdentifierOf(JavaClass type) {
      return type.getPackageName().startsWith("dev.outbox")
          ? SliceIdentifier.of(type.getPackageName())
          : SliceIdentifier.ignore();
    }

    @Override
    public String getDescription() {
      return "packages";
    }
  }

  @Test
  @DisplayName("for applications and authors need nothing but the JDK and the nullness annotations")
  void api() {
    onlyTheJdk("dev.outbox", "dev.outbox.inbox", "dev.outbox.spi..").check(OURS);
  }

  private static ArchRule onlyTheJdk(String... packages) {
    return classes()
        .that()
        .resideInAnyPackage(packages)
        .should()
        .onlyDependOnClassesThat(
            resideInAnyPackage(packages)
                .or(
                    resideInAnyPackage(
                        "java..",
                        "javax.crypto..",
                        "javax.net.ssl..",
                        "org.jspecify.annotations")));
  }

  @Test
  @DisplayName("of the HTTP publisher need nothing but the JDK and the API")
  void http() {
    onlyTheJdk(
            "dev.outbox",
            "dev.outbox.inbox",
            "dev.outbox.spi..",
            "dev.outbox.publisher.core",
            "dev.outbox.publisher.handler",
            "dev.outbox.publisher.http")
        .check(OURS);
  }

  @Test
  @DisplayName("of the transform need Kafka Connect and nothing else")
  void debezium() {
    classes()
        .that()
        .resideInAPackage("dev.outbox.debezium..")
        .should()
        .onlyDependOnClassesThat(
            resideInAnyPackage(
                "java..",
                "org.jspecify.annotations",
                "dev.outbox",
                "dev.outbox.spi..",
                "dev.outbox.publisher.core",
                "dev.outbox.publisher.handler",
                "dev.outbox.debezium",
                "org.apache.kafka.common.config..",
                "org.apache.kafka.connect.."))
        .check(OURS);
  }

  /** Whoever does not name the class does not need the library. */
  @ParameterizedTest
  @CsvSource({
    "com.fasterxml.jackson.., Jackson2PayloadSerializer",
    "tools.jackson.., Jackson3PayloadSerializer",
    "org.apache.kafka.., KafkaPayloadSerializer",
  })
  @DisplayName("for payloads use a library in one class alone")
  void oneClassForEachLibrary(String library, String user) {
    ArchRule rule = noArrow("dev.outbox.payload..", library);
    assertThat(rule.evaluate(ALL).hasViolation()).isTrue();
    JavaClasses others =
        ALL.that(
            DescribedPredicate.describe(
                "all but " + user, type -> !type.getSimpleName().equals(user)));
    rule.check(others);
  }

  /** Arrows as docs/design/README.md draws them. */
  @ParameterizedTest
  @CsvSource({
    "dev.outbox.relay.., dev.outbox.store.. dev.outbox.publisher.handler.. dev.outbox.publisher.http.. dev.outbox.publisher.kafka.. dev.outbox.publisher.nats.. dev.outbox.publisher.rabbitmq.. dev.outbox.tck.. dev.outbox.cli.. dev.outbox.spring..",
    "dev.outbox.payload.., dev.outbox.store.. dev.outbox.relay.. dev.outbox.publisher.. dev.outbox.tck.. dev.outbox.cli.. dev.outbox.spring..",
    "dev.outbox.tracing.., dev.outbox.store.. dev.outbox.relay.. dev.outbox.publisher.. dev.outbox.tck.. dev.outbox.cli.. dev.outbox.spring..",
    "dev.outbox.jakarta.., dev.outbox.store.. dev.outbox.relay.. dev.outbox.publisher.. dev.outbox.tck.. dev.outbox.cli.. dev.outbox.spring..",
    "dev.outbox.servlet.., dev.outbox.store.. dev.outbox.relay.. dev.outbox.publisher.. dev.outbox.tck.. dev.outbox.cli.. dev.outbox.spring..",
    "dev.outbox.ui.., dev.outbox.store.. dev.outbox.publisher.. dev.outbox.tck.. dev.outbox.cli.. dev.outbox.spring..",
    "dev.outbox.consumer.., dev.outbox.store.. dev.outbox.relay.. dev.outbox.publisher.. dev.outbox.tck.. dev.outbox.cli.. dev.outbox.spring..",
    "dev.outbox.debezium.., dev.outbox.store.. dev.outbox.relay.. dev.outbox.publisher.handler.. dev.outbox.publisher.http.. dev.outbox.publisher.kafka.. dev.outbox.publisher.nats.. dev.outbox.publisher.rabbitmq.. dev.outbox.tck.. dev.outbox.cli.. dev.outbox.spring..",
    "dev.outbox.publisher.., dev.outbox.store.. dev.outbox.relay.. dev.outbox.tck.. dev.outbox.cli.. dev.outbox.spring..",
    "dev.outbox.store.., dev.outbox.relay.. dev.outbox.publisher.. dev.outbox.tck.. dev.outbox.cli.. dev.outbox.spring..",
    "dev.outbox.spring.., dev.outbox.store.core.. dev.outbox.tck.. dev.outbox.cli..",
    "dev.outbox.tck.., dev.outbox.store.core.. dev.outbox.store.jdbc.. dev.outbox.store.postgres.. dev.outbox.relay.. dev.outbox.publisher.. dev.outbox.cli..",
    "dev.outbox.store.core.., dev.outbox.store.jdbc.. dev.outbox.store.postgres.. dev.outbox.store.mysql.. dev.outbox.store.sqlserver.. dev.outbox.store.mongo.. dev.outbox.store.redis..",
    "dev.outbox.store.jdbc.., dev.outbox.store.postgres.. dev.outbox.store.mysql.. dev.outbox.store.sqlserver.. dev.outbox.store.mongo.. dev.outbox.store.redis..",
    "dev.outbox.store.postgres.., dev.outbox.store.mysql.. dev.outbox.store.sqlserver.. dev.outbox.store.mongo.. dev.outbox.store.redis..",
    "dev.outbox.store.mysql.., dev.outbox.store.postgres.. dev.outbox.store.sqlserver.. dev.outbox.store.mongo.. dev.outbox.store.redis..",
    "dev.outbox.store.sqlserver.., dev.outbox.store.postgres.. dev.outbox.store.mysql.. dev.outbox.store.mongo.. dev.outbox.store.redis..",
    "dev.outbox.store.mongo.., dev.outbox.store.jdbc.. dev.outbox.store.postgres.. dev.outbox.store.mysql.. dev.outbox.store.sqlserver.. dev.outbox.store.redis..",
    "dev.outbox.store.redis.., dev.outbox.store.jdbc.. dev.outbox.store.postgres.. dev.outbox.store.mysql.. dev.outbox.store.sqlserver.. dev.outbox.store.mongo..",
  })
  @DisplayName("know nothing of")
  void arrows(String packages, String others) {
    noArrow(packages, others.split(" ")).check(ALL);
  }

  private static ArchRule noArrow(String from, String... to) {
    return noClasses()
        .that()
        .resideInAPackage(from)
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(to);
  }

  @Test
  @DisplayName("of the product need no test library")
  void testLibraries() {
    noTestLibrary("dev.outbox..").check(OURS);
  }

  private static ArchRule noTestLibrary(String packages) {
    return noArrow(
        packages,
        "org.junit..",
        "org.opentest4j..",
        "org.assertj..",
        "org.awaitility..",
        "org.testcontainers..",
        "net.jqwik..");
  }

  @Test
  @DisplayName("that break such a rule are found")
  void broken() {
    assertBroken(noArrow("dev.outbox.store.postgres..", "dev.outbox.store.jdbc.."));
    assertBroken(noArrow("dev.outbox.store.mongo..", "dev.outbox.store.core.internal.."));
    assertBroken(noTestLibrary("dev.outbox.tck.."));
    assertBroken(onlyTheJdk("dev.outbox.relay"));
    String comment = "{@link\n * dev.outbox.relay.Gone} {@code Lost} {@code Relay} {@code SPEC.md}";
    assertThat(gone("dev.outbox.relay", comment))
        .containsExactly("dev.outbox.relay.Gone", "dev.outbox.relay.Lost");
  }

  private static void assertBroken(ArchRule rule) {
    assertThat(rule.evaluate(ALL).hasViolation()).as(rule.getDescription()).isTrue();
  }
}
