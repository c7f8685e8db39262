package dev.outbox.dev.bench;

import java.util.Arrays;
import java.util.List;

/** A table in Markdown that can be read as text too. */
public final class Table {
  private Table() {}

  /**
   * Lines of cells, padded.
   *
   * @param rows the head first; all as long as it is
   * @param firstNumber the first column of numbers; they stand to the right, texts to the left
   */
  public static String markdown(List<String[]> rows, int firstNumber) {
    int[] widths = new int[rows.get(0).length];
    rows.forEach(
        row -> Arrays.setAll(widths, i -> Math.max(Math.max(3, widths[i]), row[i].length())));
    StringBuilder text = new StringBuilder();
    append(text, rows.get(0), widths, firstNumber);
    for (int i = 0; i < widths.length; i++) {
      String dashes = "-".repeat(widths[i] - 1);
      text.append(i < firstNumber ? "| -" + dashes + " " : "| " + dashes + ": ");
    }
    text.append("|\n");
    rows.subList(1, rows.size()).forEach(row -> append(text, row, widths, firstNumber));
    return text.toString();
  }

  private static void append(StringBuilder text, String[] row, int[] widths, int firstNumber) {
    for (int i = 0; i < row.length; i++) {
      String spaces = " ".repeat(widths[i] - row[i].length());
      text.append("| ").append(i < firstNumber ? row[i] + spaces : spaces + row[i]).append(' ');
    }
    text.append("|\n");
  }
}
