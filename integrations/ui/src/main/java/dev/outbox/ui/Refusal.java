package dev.outbox.ui;

/** Why a request is not answered as it was meant: a sentence for who sent it. */
final class Refusal extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int status;

  Refusal(int status, String sentence) {
    super(sentence);
    this.status = status;
  }

  int status() {
    return status;
  }

  String sentence() {
    return String.valueOf(getMessage());
  }
}
