package dev.outbox.site;

import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.joining;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.commonmark.Extension;
import org.commonmark.ext.gfm.tables.TablesExtension;
import org.commonmark.node.AbstractVisitor;
import org.commonmark.node.BulletList;
import org.commonmark.node.Code;
import org.commonmark.node.Emphasis;
import org.commonmark.node.FencedCodeBlock;
import org.commonmark.node.Heading;
import org.commonmark.node.Link;
import org.commonmark.node.Node;
import org.commonmark.node.StrongEmphasis;
import org.commonmark.node.Text;
import org.commonmark.parser.Parser;
import org.commonmark.renderer.html.HtmlRenderer;

/**
 * The documents of a checkout as a site. A page keeps its place, and README.md is the index.html of
 * its folder. The lists in docs/README.md are the groups of the menu.
 */
public final class Site {
  private static final List<Extension> TABLES = List.of(TablesExtension.create());
  private static final String JAVADOC = "<h2><a href=\"%sapi/index.html\">Javadoc</a></h2>\n";
  private static final Path CONTENTS = Path.of("docs/README.md");

  private final Path root;
  private final Map<Path, Page> pages = new TreeMap<>();
  private final Map<String, List<Path>> groups = new LinkedHashMap<>();
  private final List<String> problems = new ArrayList<>();

  /** A heading, and the words below it. */
  private record Section(int level, String id, String title, StringBuilder words) {}

  /** The sections by their headings, in order. */
  private record Page(Node document, Map<Node, Section> sections) {
    String title() {
      return sections.values().iterator().next().title;
    }

    boolean hasId(String id) {
      return sections.values().stream().anyMatch(section -> section.id.equals(id));
    }
  }

  /** Reads all pages of a checkout. */
  Site(Path root) throws IOException {
    this.root = root;
    Parser parser = Parser.builder().extensions(TABLES).build();
    try (Stream<Path> top = Files.list(root);
        Stream<Path> docs = Files.walk(root.resolve("docs"))) {
      for (Path file : Stream.concat(top, docs).toList()) {
        if (file.toString().endsWith(".md")) {
          Page page = new Page(parser.parse(Files.readString(file)), new LinkedHashMap<>());
          page.document.accept(new Sections(page));
          pages.put(root.relativize(file), page);
        }
      }
    }
    pages.forEach((path, page) -> page.document.accept(new Links(path)));
    group();
  }

  /** What leads nowhere, and which pages are not in one group; empty where all is well. */
  List<String> problems() {
    return problems;
  }

  /** Fills the sections of a page. */
  private static final class Sections extends AbstractVisitor {
    private final Page page;
    private StringBuilder words = new StringBuilder();

    Sections(Page page) {
      this.page = page;
    }

    @Override
    public void visit(Heading heading) {
      words = new StringBuilder();
      visitChildren(heading);
      String title = words.toString().strip();
      // As GitHub names it in links.
      String name = title.toLowerCase(Locale.ROOT).replaceAll("[^\\p{L}\\p{N} _-]", "");
      String id = name.replace(' ', '-');
      for (int i = 1; page.hasId(id); i++) {
        id = name.replace(' ', '-') + "-" + i;
      }
      words = new StringBuilder();
      page.sections.put(heading, new Section(heading.getLevel(), id, title, words));
    }

    @Override
    protected void visitChildren(Node parent) {
      super.visitChildren(parent);
      boolean inLine = parent instanceof Emphasis || parent instanceof StrongEmphasis;
      words.append(inLine || parent instanceof Link ? "" : " ");
    }

    @Override
    public void visit(Text text) {
      words.append(text.getLiteral());
    }

    @Override
    public void visit(Code code) {
      words.append(code.getLiteral());
    }

    @Override
    public void visit(FencedCodeBlock code) {
      words.append(code.getLiteral());
    }
  }

  /** Checks each link of a page. */
  private final class Links extends AbstractVisitor {
    private final Path page;

    Links(Path page) {
      this.page = page;
    }

    @Override
    public void visit(Link link) {
      String to = link.getDestination();
      if (!to.contains(":")) {
        Path file = target(page, to);
        String anchor = to.replaceFirst("[^#]*#?", "");
        Page target = pages.get(file);
        if (!Files.exists(root.resolve(file))) {
          problems.add("%s: %s is not there".formatted(page, to));
        } else if (!anchor.isEmpty() && (target == null || !target.hasId(anchor))) {
          problems.add("%s: %s names a heading that is not there".formatted(page, to));
        }
      }
    }
  }

  private static Path target(Path page, String link) {
    String file = link.replaceFirst("#.*", "");
    return file.isEmpty() ? page : page.resolveSibling(file).normalize();
  }

  /** Each list of the contents is a group; of each item the first link is a page in it. */
  private void group() {
    Page contents = page(CONTENTS);
    List<Path> group = new ArrayList<>();
    for (Node node = contents.document.getFirstChild(); node != null; node = node.getNext()) {
      if (node instanceof Heading) {
        group = new ArrayList<>();
        groups.put(contents.sections.get(node).title, group);
      } else if (node instanceof BulletList list) {
        for (Node item = list.getFirstChild(); item != null; item = item.getNext()) {
          if (item.getFirstChild().getFirstChild() instanceof Link link) {
            group.add(target(CONTENTS, link.getDestination()));
          }
        }
      }
    }
    groups.values().removeIf(List::isEmpty);
    for (Path page : pages.keySet()) {
      long times = inOrder().stream().filter(page::equals).count();
      boolean needed =
          page.startsWith("docs") && page.getNameCount() == 2 && !page.equals(CONTENTS);
      if (times > 1 || (times == 0 && needed)) {
        problems.add("%s: it is %s times in the lists of %s".formatted(page, times, CONTENTS));
      }
    }
  }

  private List<Path> inOrder() {
    return groups.values().stream().flatMap(List::stream).toList();
  }

  private Page page(Path path) {
    return requireNonNull(pages.get(path), path::toString);
  }

  /**
   * Writes the site.
   *
   * @param home where the source is, for links to what is no page
   * @param javadoc whether it is wanted, in the folder api
   */
  void write(Path out, String home, boolean javadoc) throws IOException {
    StringBuilder index = new StringBuilder("const index = [");
    Set<Path> order = new LinkedHashSet<>(inOrder());
    order.addAll(pages.keySet());
    for (Path path : order) {
      Page page = page(path);
      Path file = out.resolve(html(path));
      Files.createDirectories(file.getParent());
      String top = "../".repeat(path.getNameCount() - 1);
      String text =
          resource("page.html")
              .replace("{title}", escaped(page.title()))
              .replace("{top}", top)
              .replace("{menu}", menu(path, top) + (javadoc ? JAVADOC.formatted(top) : ""))
              .replace("{next}", next(path, top))
              .replace("{page}", rendered(path, home));
      Files.writeString(file, text);
      for (Section section : page.sections.values()) {
        String url = html(path) + "#" + section.id;
        index.append(
            Stream.of(url, page.title(), section.title, section.words)
                .map(word -> '"' + word.toString().replaceAll("[\"\\\\\\s]+", " ") + '"')
                .collect(joining(",", "[", "],\n")));
      }
    }
    Files.writeString(out.resolve("index.js"), index.append("];\n"));
    Files.writeString(out.resolve("site.css"), resource("site.css"));
    Files.writeString(out.resolve("site.js"), resource("site.js"));
    if (javadoc) {
      writeJavadoc(out.resolve("api"));
    }
  }

  private String rendered(Path path, String home) {
    Page page = page(path);
    return HtmlRenderer.builder()
        .extensions(TABLES)
        .attributeProviderFactory(
            context ->
                (node, tag, attributes) -> {
                  if (node instanceof Link link) {
                    attributes.put("href", href(path, link.getDestination(), home));
                  } else if (page.sections.containsKey(node)) {
                    attributes.put("id", page.sections.get(node).id);
                  }
                })
        .build()
        .render(page.document);
  }

  private String href(Path page, String link, String home) {
    Path file = target(page, link.replaceFirst(".*:.*", ""));
    if (link.contains(":")) {
      return link;
    } else if (!pages.containsKey(file)) {
      boolean folder = Files.isDirectory(root.resolve(file));
      return "%s/%s/main/%s".formatted(home, folder ? "tree" : "blob", file);
    }
    return link.replaceFirst("README\\.md", "index.html").replaceFirst("\\.md(#|$)", ".html$1");
  }

  private static String html(Path page) {
    return page.toString().replace("README.md", "index.html").replaceFirst("\\.md$", ".html");
  }

  private String menu(Path here, String top) {
    StringBuilder menu = new StringBuilder();
    groups.forEach(
        (group, paths) -> {
          menu.append("<h2>").append(escaped(group)).append("</h2>\n<ul>\n");
          for (Path path : paths) {
            String link = link(path, top);
            menu.append("<li>").append(path.equals(here) ? "<b>" + link + "</b>" : link);
            if (path.equals(here)) {
              page(path).sections.values().stream()
                  .filter(section -> section.level == 2)
                  .map(s -> "<li><a href=\"#%s\">%s</a></li>".formatted(s.id, escaped(s.title)))
                  .forEach(item -> menu.append("<ul>").append(item).append("</ul>"));
            }
            menu.append("</li>\n");
          }
          menu.append("</ul>\n");
        });
    return menu.toString();
  }

  private String next(Path here, String top) {
    int next = inOrder().indexOf(here) + 1;
    return next == 0 || next == inOrder().size() ? "" : "Next: " + link(inOrder().get(next), top);
  }

  private String link(Path path, String top) {
    return "<a href=\"%s%s\">%s</a>".formatted(top, html(path), escaped(page(path).title()));
  }

  private static String escaped(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }

  private static String resource(String name) throws IOException {
    try (InputStream in = Site.class.getResourceAsStream(name)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  /** From the sources alone: types of other libraries have no link. */
  private void writeJavadoc(Path out) throws IOException {
    List<String> arguments =
        new ArrayList<>(
            List.of("-quiet", "-Xdoclint:none", "--ignore-source-errors", "-d", out.toString()));
    try (Stream<Path> files = Files.walk(root)) {
      files
          .map(file -> root.relativize(file).toString())
          .filter(file -> file.matches("(?!dev/|examples/).*src/main/java/.*\\.java"))
          .filter(file -> !file.matches(".*(/internal/|/cli/|target/|module-info).*"))
          .forEach(file -> arguments.add(root.resolve(file).toString()));
    }
    PrintWriter nowhere = new PrintWriter(Writer.nullWriter());
    ToolProvider javadoc = ToolProvider.findFirst("javadoc").orElseThrow();
    javadoc.run(nowhere, nowhere, arguments.toArray(String[]::new));
    if (!Files.exists(out.resolve("index.html"))) {
      throw new IOException("javadoc has written nothing; run it by hand: " + arguments);
    }
  }

  /**
   * Writes the site of a checkout, unless something in it leads nowhere.
   *
   * @param args the checkout, the folder to write to, where the source is, and whether the javadoc
   *     is wanted
   */
  public static void main(String[] args) throws IOException {
    Site site = new Site(Path.of(args[0]));
    if (!site.problems().isEmpty()) {
      throw new IOException(String.join("\n", site.problems()));
    }
    site.write(Path.of(args[1]), args[2], Boolean.parseBoolean(args[3]));
  }
}
