package dev.outbox.micrometer;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What a Prometheus server reads: the series of the text format. */
record Scrape(List<Series> series) {
  private static final Pattern LINE =
      Pattern.compile("(?m)^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\\{(.*)})? (\\S+)$");
  private static final Pattern LABEL = Pattern.compile("([a-zA-Z_]+)=\"((?:[^\"\\\\]|\\\\.)*)\"");

  record Series(String name, Map<String, String> labels, double value) {}

  static Scrape of(String text) {
    List<Series> all = new ArrayList<>();
    for (Matcher line = LINE.matcher(text); line.find(); ) {
      Map<String, String> labels = new HashMap<>();
      if (line.group(2) != null) {
        for (Matcher label = LABEL.matcher(line.group(2)); label.find(); ) {
          labels.put(label.group(1), label.group(2));
        }
      }
      all.add(new Series(line.group(1), labels, Double.parseDouble(line.group(3))));
    }
    return new Scrape(all);
  }

  /** The values of the series of a name that have these labels among theirs. */
  List<Double> values(String name, Map<String, String> labels) {
    return named(name).stream()
        .filter(found -> found.labels.entrySet().containsAll(labels.entrySet()))
        .map(Series::value)
        .toList();
  }

  List<Series> named(String name) {
    return series.stream().filter(found -> found.name.equals(name)).toList();
  }
}
