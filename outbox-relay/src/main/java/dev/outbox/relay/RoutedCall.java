package dev.outbox.relay;

import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One call of a {@link RoutingPublisher}. For one thread.
 *
 * <p>Of each key, the first messages that go to the same publisher are ready. A publisher is called
 * with all messages that are ready for it, and again with those that became ready meanwhile. When
 * all messages of a key in a call are delivered, the key's next ones become ready, for the next
 * publisher. When one is not delivered, the key stops.
 */
final class RoutedCall {
  /** The part of the time in which publishers are called. */
  static final int PART = 10;

  private final List<StoredMessage> messages;
  private final List<Routed> all;
  private final Function<StoredMessage, Routed> routes;
  private final Duration timeout;
  private final Duration patience;
  private final long begin = System.nanoTime();
  private final long lastBegin;
  private final ExecutorService executor;
  private final RelayListener listener;
  private final Routed[] routed;
  private final @Nullable Result[] results;

  /** Of each key the indexes of messages that are not ready yet. */
  private final Map<String, Deque<Integer>> later = new LinkedHashMap<>();

  private final Map<Routed, TreeSet<Integer>> ready = new LinkedHashMap<>();
  private final Map<Routed, Calling> calling = new HashMap<>();
  private final BlockingQueue<Calling> ended = new LinkedBlockingQueue<>();

  /**
   * A call of one publisher.
   *
   * @param done completes when it has ended, or was given up
   */
  private record Calling(
      Routed to,
      List<Integer> indexes,
      Publication publication,
      long since,
      CompletableFuture<Void> done) {}

  /**
   * @param timeout after which calls that go on are given up
   */
  RoutedCall(
      List<StoredMessage> messages,
      List<Routed> all,
      Function<StoredMessage, Routed> routes,
      Duration timeout,
      ExecutorService executor,
      RelayListener listener) {
    this.messages = messages;
    this.all = all;
    this.routes = routes;
    this.timeout = timeout;
    lastBegin = begin + timeout.dividedBy(PART).toNanos();
    patience = timeout.dividedBy(2 * PART);
    this.executor = executor;
    this.listener = listener;
    routed = new Routed[messages.size()];
    results = new Result[messages.size()];
  }

  List<Result> publish() throws InterruptedException {
    for (int i = 0; i < routed.length; i++) {
      routed[i] = routes.apply(messages.get(i));
      later.computeIfAbsent(messages.get(i).key(), key -> new ArrayDeque<>()).add(i);
    }
    later.keySet().forEach(this::getReady);
    try {
      call();
      while (!calling.isEmpty()) {
        Calling one = ended.poll(left(), TimeUnit.NANOSECONDS);
        if (one == null) {
          break;
        }
        end(one);
        if (lastBegin - System.nanoTime() > 0) {
          call();
        }
      }
      List.copyOf(calling.values()).forEach(this::leave);
    } finally {
      for (Calling late : List.copyOf(calling.values())) {
        late.publication.giveUp();
        end(late);
      }
    }
    return answer();
  }

  /** How long the publishers that are being called may still take. */
  private long left() {
    long now = System.nanoTime();
    return calling.values().stream()
        .mapToLong(one -> one.since + one.to.patience(patience) - now)
        .max()
        .orElse(0);
  }

  /** Lets a call go on by itself, until its time is over. */
  private void leave(Calling call) {
    calling.remove(call.to);
    call.to.left(call.publication, patience);
    CompletableFuture<List<@Nullable Result>> given =
        call.done
            .completeOnTimeout(
                null, begin + timeout.toNanos() - System.nanoTime(), TimeUnit.NANOSECONDS)
            .thenApplyAsync(
                done -> {
                  call.publication.giveUp();
                  return told(call);
                },
                executor);
    for (int i = 0; i < call.indexes.size(); i++) {
      int place = i;
      int index = call.indexes.get(i);
      results[index] =
          call.to
              .unanswered()
              .leave(messages.get(index), call.to.name(), given.thenApply(all -> all.get(place)));
    }
  }

  /** The key's next messages, as many as go to one publisher and are not with it already. */
  private void getReady(String key) {
    Deque<Integer> indexes = later.getOrDefault(key, new ArrayDeque<>());
    Integer next = indexes.peek();
    while (next != null) {
      results[next] = routed[next].unanswered().of(messages.get(next));
      if (!(results[next] instanceof Result.Delivered)) {
        break;
      }
      indexes.remove();
      next = indexes.peek();
    }
    Routed to = next == null || results[next] != null ? null : routed[next];
    for (; to != null && next != null && routed[next] == to; next = indexes.peek()) {
      ready.computeIfAbsent(to, one -> new TreeSet<>()).add(next);
      indexes.remove();
    }
  }

  /** Calls the publishers for which something is ready, except those that are being called. */
  private void call() {
    for (Routed to : all) {
      Set<Integer> waiting = ready.getOrDefault(to, new TreeSet<>());
      if (waiting.isEmpty() || calling.containsKey(to)) {
        continue;
      }
      ready.remove(to);
      String refusal = to.refusal(othersAnswer(to));
      if (refusal == null) {
        start(to, List.copyOf(waiting));
      } else {
        waiting.forEach(i -> results[i] = Result.unavailable(refusal));
      }
    }
  }

  private boolean othersAnswer(Routed than) {
    return all.stream().anyMatch(other -> other != than && other.answers());
  }

  private void start(Routed to, List<Integer> indexes) {
    List<StoredMessage> some = indexes.stream().map(messages::get).toList();
    Publication publication =
        new Publication(to.publisher(), some, timeout, executor, System::nanoTime);
    CompletableFuture<Void> done = new CompletableFuture<>();
    Calling call = new Calling(to, indexes, publication, System.nanoTime(), done);
    publication.whenFinished(() -> done.complete(null));
    CompletableFuture<Void> unused = done.thenRun(() -> ended.add(call));
    calling.put(to, call);
    long ignored = publication.start();
  }

  /** What came of a call; tells what was wrong with it. */
  private List<@Nullable Result> told(Calling call) {
    call.to.ended(call.publication, call.since);
    for (Publication.Broken broken : call.publication.broken()) {
      listener.on(
          new RelayEvent.PublisherBroken(
              call.to.name(), call.to.name() + ": " + broken.problem(), broken.cause()));
    }
    return call.publication.results();
  }

  /** Takes a call's results, and gets ready what waited for them. */
  private void end(Calling call) {
    calling.remove(call.to);
    List<@Nullable Result> given = told(call);
    Set<String> stopped = new HashSet<>();
    Set<String> keys = new HashSet<>();
    for (int i = 0; i < given.size(); i++) {
      int index = call.indexes.get(i);
      String key = messages.get(index).key();
      keys.add(key);
      results[index] = given.get(i);
      if (given.get(i) == null && stopped.add(key)) {
        results[index] = Result.unavailable(call.to.name() + " gave no result in time");
      } else if (!(given.get(i) instanceof Result.Delivered)) {
        stopped.add(key);
      }
    }
    keys.removeAll(stopped);
    keys.forEach(this::getReady);
  }

  private List<Result> answer() {
    Set<String> stopped = new HashSet<>();
    for (int i = 0; i < results.length; i++) {
      String key = messages.get(i).key();
      Result result = results[i];
      if (result == null) {
        results[i] =
            Result.unavailable(
                stopped.contains(key)
                    ? "an earlier message of its key was not delivered"
                    : "the time of this call was over before it was its turn",
                routed[i].name());
      } else if (result instanceof Result.Unavailable unavailable) {
        results[i] = named(unavailable, routed[i]);
      }
      if (!(results[i] instanceof Result.Delivered)) {
        stopped.add(key);
      }
    }
    return Arrays.asList(results);
  }

  /** A broker that is away counts as a destination, as long as another one answers. */
  private Result named(Result.Unavailable result, Routed from) {
    String destination = result.destination();
    if (destination != null) {
      return destination.equals(from.name())
          ? result
          : new Result.Unavailable(
              result.error(), from.name() + ": " + destination, result.again());
    }
    return othersAnswer(from) ? Result.unavailable(result.error(), from.name()) : result;
  }
}
