package dev.outbox.site;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SiteTest {
  @TempDir Path folder;

  @Test
  void nothingInTheseDocumentsLeadsNowhere() throws IOException {
    assertThat(new Site(Path.of("../..")).problems()).isEmpty();
  }

  @Test
  void whatLeadsNowhereIsNamed() throws IOException {
    write("README.md", "# Start\n[lost](lost.md) [source](pom.xml) [two](docs/a.md#two-words-1)");
    write("docs/README.md", "# All\n## Learn\n- [A](a.md#three): a page\n- [B](b.md)\n- [A](a.md)");
    write("docs/a.md", "# A\n## Two `words`\n## Two words");
    write("docs/b.md", "# B\n[there](design/c.md#c) and [gone](#gone)");
    write("docs/none.md", "# None\nin no group");
    write("docs/design/c.md", "# C\nneeds no group");
    assertThat(new Site(folder).problems())
        .containsExactly(
            "README.md: lost.md is not there",
            "README.md: pom.xml is not there",
            "docs/README.md: a.md#three names a heading that is not there",
            "docs/b.md: #gone names a heading that is not there",
            "docs/a.md: it is 2 times in the lists of docs/README.md",
            "docs/none.md: it is 0 times in the lists of docs/README.md");
  }

  @Test
  void linksLeadToPagesAndToTheSource() throws IOException {
    write("README.md", "# Start\n[a](docs/a.md#a-1) [file](docs/a.sql) [folder](docs) [x](x:y)");
    write("docs/README.md", "# All\n## Learn\n- [A](a.md)");
    write("docs/a.md", "# A\n## A\n[home](../README.md) `\"<here>\"`");
    write("docs/a.sql", "select 1");
    new Site(folder).write(folder.resolve("out"), "https://source.example", false);
    assertThat(folder.resolve("out/index.html"))
        .content()
        .contains(
            "href=\"docs/a.html#a-1\"", "href=\"https://source.example/blob/main/docs/a.sql\"")
        .contains("href=\"https://source.example/tree/main/docs\"", "href=\"x:y\"");
    assertThat(folder.resolve("out/docs/a.html"))
        .content()
        .contains("<h2 id=\"a-1\">A</h2>", "<a href=\"../index.html\">home</a>", "../site.css");
    assertThat(folder.resolve("out/index.js"))
        .content()
        .contains("[\"docs/a.html#a-1\",\"A\",\"A\",\"home <here> \"]");
  }

  private void write(String name, String text) throws IOException {
    Path file = folder.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }
}
