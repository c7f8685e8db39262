package dev.outbox.ui;

import static dev.outbox.ui.Html.at;
import static dev.outbox.ui.Html.css;
import static dev.outbox.ui.Html.el;

import dev.outbox.relay.Diagnosis;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/** A small line of the last hour, from nothing at its lower end to the most that was there. */
final class Sparkline {
  private static final double WIDTH = 100;
  private static final double HEIGHT = 20;

  private Sparkline() {}

  static Html of(List<Diagnosis> samples, ToDoubleFunction<Diagnosis> value) {
    return el(
        "svg",
        css("spark"),
        at("viewBox", "0 -1 100 22"),
        at("preserveAspectRatio", "none"),
        at("aria-hidden", "true"),
        samples.size() < 2 ? null : el("polyline", at("points", points(samples, value))));
  }

  /** How long the samples go back. */
  static Duration span(List<Diagnosis> samples) {
    return Duration.between(samples.get(0).at(), samples.get(samples.size() - 1).at());
  }

  private static String points(List<Diagnosis> samples, ToDoubleFunction<Diagnosis> value) {
    double most = Math.max(1, samples.stream().mapToDouble(value).max().orElse(1));
    double span = span(samples).toMillis();
    return samples.stream()
        .map(
            sample ->
                String.format(
                    Locale.ROOT,
                    "%.1f,%.1f",
                    WIDTH * Duration.between(samples.get(0).at(), sample.at()).toMillis() / span,
                    HEIGHT * (1 - value.applyAsDouble(sample) / most)))
        .collect(Collectors.joining(" "));
  }
}
