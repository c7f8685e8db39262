package dev.outbox.micrometer;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What an expression of Prometheus needs: metrics with labels, and labels to sum up by. */
record Expression(List<Selector> selectors, Set<String> groupedBy) {
  private static final Pattern SELECTOR = Pattern.compile("\\b(outbox_[a-z_]+)(?:\\{([^}]*)})?");
  private static final Pattern MATCHER =
      Pattern.compile("([a-z_]+)\\s*(=~|!~|!=|=)\\s*\"([^\"]*)\"");
  private static final Pattern BY = Pattern.compile("\\bby\\s*\\(([^)]*)\\)");

  /**
   * @param labels those that are asked for
   * @param values what some of them must be equal to
   */
  record Selector(String metric, Set<String> labels, Map<String, String> values) {}

  static Expression of(String text) {
    List<Selector> selectors = new ArrayList<>();
    for (Matcher found = SELECTOR.matcher(text); found.find(); ) {
      Set<String> labels = new TreeSet<>();
      Map<String, String> values = new HashMap<>();
      if (found.group(2) != null) {
        for (Matcher label = MATCHER.matcher(found.group(2)); label.find(); ) {
          labels.add(label.group(1));
          if (label.group(2).equals("=")) {
            values.put(label.group(1), label.group(3));
          }
        }
      }
      selectors.add(new Selector(found.group(1), labels, values));
    }
    Set<String> groupedBy = new TreeSet<>();
    for (Matcher by = BY.matcher(text); by.find(); ) {
      groupedBy.addAll(List.of(by.group(1).split("\\s*,\\s*")));
    }
    return new Expression(selectors, groupedBy);
  }
}
