package dev.outbox.dev.torture;

/** A process that only produces, until it is told to end or killed. */
final class ProducerMain {
  private static final int THREADS = 2;

  private ProducerMain() {}

  public static void main(String[] args) throws Exception {
    try (Child child = Child.connect();
        Place<?> place = child.place(THREADS)) {
      Producers producers = new Producers(child, THREADS, place::begin, place.canCommitLater());
      child.say(Child.STARTED);
      for (String command = child.command();
          !command.equals(Child.END);
          command = child.command()) {
        String[] words = command.split(" ");
        switch (words[0]) {
          case Child.PAUSE -> producers.pause();
          case Child.GO_ON -> producers.goOn();
          case Child.EXHAUST -> place.exhaust(Long.parseLong(words[1]));
          case Child.LONG -> producers.standStill(Long.parseLong(words[1]));
          default -> throw new IllegalArgumentException(command);
        }
      }
      producers.end();
    }
  }
}
