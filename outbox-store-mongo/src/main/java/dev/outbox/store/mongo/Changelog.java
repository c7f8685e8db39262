package dev.outbox.store.mongo;

import dev.outbox.store.core.internal.PrefixedNames;
import java.io.IOException;
import java.io.StringReader;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.bson.BsonDocument;
import org.w3c.dom.Comment;
import org.w3c.dom.Document;
import org.w3c.dom.Node;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;
import org.xml.sax.SAXException;

/**
 * What Liquibase runs, read without Liquibase.
 *
 * @param parameters what it has between ${ and }
 */
record Changelog(CollectionKind contents, Map<String, String> parameters) {
  private static final String COMMAND = "mongodb:runCommand";

  static Changelog of(CollectionKind contents, PrefixedNames names) {
    return new Changelog(contents, Map.of("p", names.prefix()));
  }

  /** Of an archive. */
  static Changelog of(PrefixedNames names, long seconds) {
    return new Changelog(
        CollectionKind.ARCHIVE, Map.of("p", names.prefix(), "seconds", Long.toString(seconds)));
  }

  /** Its commands and comments, as a script for mongosh. */
  String script() {
    StringBuilder script = new StringBuilder();
    append(parsed(), script);
    return script.toString().strip() + "\n";
  }

  /** Its commands; each may be run again. */
  List<BsonDocument> commands() {
    NodeList commands = parsed().getElementsByTagName(COMMAND);
    return IntStream.range(0, commands.getLength())
        .mapToObj(i -> BsonDocument.parse(commands.item(i).getTextContent()))
        .toList();
  }

  private Document parsed() {
    String xml = PrefixedNames.resource(Changelog.class, contents.changelog);
    for (Map.Entry<String, String> parameter : parameters.entrySet()) {
      xml = xml.replace("${" + parameter.getKey() + "}", parameter.getValue());
    }
    try {
      DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
      // It is our own file, and has no entities: so none is ever looked up.
      factory.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
      return factory.newDocumentBuilder().parse(new InputSource(new StringReader(xml)));
    } catch (ParserConfigurationException | SAXException | IOException e) {
      throw new IllegalStateException(contents.changelog + " is not XML", e);
    }
  }

  private static void append(Node node, StringBuilder script) {
    if (node instanceof Comment comment) {
      script.append('\n').append(commented(comment.getData())).append('\n');
    } else if (node.getNodeName().equals(COMMAND)) {
      script
          .append("db.runCommand(")
          .append(node.getTextContent().stripTrailing().stripIndent().strip())
          .append(");\n");
    } else {
      NodeList children = node.getChildNodes();
      for (int i = 0; i < children.getLength(); i++) {
        append(children.item(i), script);
      }
    }
  }

  private static String commented(String text) {
    return text.strip().lines().map(line -> "// " + line.strip()).collect(Collectors.joining("\n"));
  }
}
