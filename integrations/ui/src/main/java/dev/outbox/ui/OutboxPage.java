package dev.outbox.ui;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.outbox.OutboxException;
import dev.outbox.spi.store.DeadLetterStore;
import dev.outbox.spi.store.InspectionStore;
import dev.outbox.spi.store.PauseStore;
import dev.outbox.spi.store.StatisticsStore;
import dev.outbox.ui.Deciding.Action;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The operator's page of an outbox: answers requests, whatever server they come from. It makes HTML
 * that works without scripts, with relative addresses, for any path that ends in a slash. The
 * server decides who may ask. It reads in {@value #MOST_READS} threads of its own, each request for
 * {@value #LIMIT_SECONDS} seconds at most. Any threads may call it.
 */
public final class OutboxPage implements AutoCloseable {

  /** How many connections to the database it uses at the same time. */
  public static final int MOST_READS = 2;

  static final int LIMIT_SECONDS = 10;
  private static final int LIMIT_OF_CHANGES_SECONDS = 30;
  private static final int MOST_WAITING = 16;

  private final Source source;
  private final Readings readings;
  private final FormTokens tokens = new FormTokens();
  private final ThreadPoolExecutor threads;
  private final Duration limit;
  private volatile @Nullable String place;

  private OutboxPage(Builder builder) {
    source =
        new Source(
            builder.messages,
            builder.figures,
            builder.allowChanges && builder.messages instanceof DeadLetterStore letters
                ? letters
                : null,
            builder.allowChanges && builder.messages instanceof PauseStore pauses ? pauses : null,
            builder.person,
            builder.mask,
            builder.clock);
    readings = new Readings(source);
    limit = builder.limit;
    threads = threads("outbox-page", MOST_READS, MOST_WAITING);
  }

  /** Daemons that end when nothing is asked for a while. */
  static ThreadPoolExecutor threads(String name, int most, int mostWaiting) {
    ThreadPoolExecutor threads =
        new ThreadPoolExecutor(
            most,
            most,
            LIMIT_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(mostWaiting),
            task -> {
              Thread thread = new Thread(task, name);
              thread.setDaemon(true);
              return thread;
            });
    threads.allowCoreThreadTimeOut(true);
    return threads;
  }

  /**
   * A page of a store.
   *
   * @param store an {@link InspectionStore} and {@link StatisticsStore}; with {@link
   *     Builder#allowChanges} a {@link DeadLetterStore} and {@link PauseStore}, too
   * @throws IllegalArgumentException when it is none of the first two
   */
  public static Builder builder(Object store) {
    return new Builder(store);
  }

  /** What a page is made of. */
  public static final class Builder {
    private final InspectionStore messages;
    private final StatisticsStore figures;
    private boolean allowChanges;
    private String person = "the operator's page";
    private UnaryOperator<String> mask = UnaryOperator.identity();
    private InstantSource clock = InstantSource.system();
    private Duration limit = Duration.ofSeconds(LIMIT_SECONDS);

    private Builder(Object store) {
      if (!(store instanceof InspectionStore inspected)
          || !(store instanceof StatisticsStore counted)) {
        throw new IllegalArgumentException(
            "the page needs a store that is an InspectionStore and a StatisticsStore, and %s is not"
                .formatted(store.getClass().getSimpleName()));
      }
      messages = inspected;
      figures = counted;
    }

    /**
     * Whether dead letters can be requeued and discarded, and messages cancelled and paused; else
     * it only shows. By default not.
     */
    public Builder allowChanges(boolean allowed) {
      allowChanges = allowed;
      return this;
    }

    /** Who decides, for the audit, unless another name is given on the page. */
    public Builder person(String name) {
      person = requireNonNull(name, "name");
      return this;
    }

    /** Takes secrets out of errors and warnings before they are shown. By default nothing. */
    public Builder mask(UnaryOperator<String> masking) {
      mask = requireNonNull(masking, "masking");
      return this;
    }

    /** For tests. */
    Builder clock(InstantSource newClock) {
      clock = newClock;
      return this;
    }

    /** For tests. */
    Builder limit(Duration newLimit) {
      limit = newLimit;
      return this;
    }

    public OutboxPage build() {
      return new OutboxPage(this);
    }
  }

  /** Answers a request; what goes wrong becomes an answer, too. */
  public PageResponse answer(PageRequest request) {
    switch (request.path()) {
      case "style.css":
        return file("style.css", "text/css");
      case "page.js":
        return file("page.js", "text/javascript");
      default:
        return inTime(
            request.isPost() ? Duration.ofSeconds(LIMIT_OF_CHANGES_SECONDS) : limit,
            () -> {
              try {
                return page(request);
              } finally {
                if (request.isPost()) {
                  readings.forget();
                }
              }
            });
    }
  }

  private PageResponse inTime(Duration most, Callable<PageResponse> work) {
    Future<PageResponse> answer;
    try {
      answer = threads.submit(work);
    } catch (RejectedExecutionException e) {
      return error(503, "Too many ask at the same time: try again in some seconds.");
    }
    try {
      return answer.get(most.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      return error(503, "The database has not answered within %s.".formatted(Words.age(most)));
    } catch (ExecutionException e) {
      return failed(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return error(503, "This page is being ended.");
    } finally {
      answer.cancel(true);
    }
  }

  /** One sentence, and where it came from only for what nobody expected. */
  private PageResponse failed(@Nullable Throwable e) {
    if (e instanceof Refusal refusal) {
      return error(refusal.status(), refusal.sentence());
    }
    String said = source.masked(e == null ? null : e.getMessage());
    if (e instanceof IllegalArgumentException) {
      return error(400, "This cannot be shown: " + said);
    }
    return e instanceof OutboxException
        ? error(503, "The outbox cannot be read: " + said)
        : error(500, "This was not expected: " + source.masked(String.valueOf(e)));
  }

  private PageResponse error(int status, String sentence) {
    return Frame.page(
        status, "error", place, "This did not work", Html.el("p", Html.css("notice"), sentence));
  }

  private PageResponse page(PageRequest request) {
    if (place == null) {
      place = source.place();
    }
    for (Action action : Action.values()) {
      if (request.path().equals(action.path())) {
        refuseOthers(request, true);
        return new Deciding(source, tokens, action, request).answer(place);
      }
    }
    if (Pausing.PATHS.contains(request.path())) {
      refuseOthers(request, true);
      return new Pausing(source, tokens, request).answer(place);
    }
    refuseOthers(request, false);
    return switch (request.path()) {
      case "" -> page("", "Overview", Overview.of(readings.read(), source, readings.samples()));
      case "messages" -> page("messages", "Messages", MessageList.of(source, request));
      case "dead-letters" -> page("dead-letters", "Dead letters", DeadLetters.of(source, request));
      case "keys" -> page("keys", "Keys that wait", KeyList.of(source, request));
      case "message" -> {
        long sequence = sequence(request);
        yield page("message", "Message " + sequence, OneMessage.of(source, sequence));
      }
      case "payload" -> {
        long sequence = sequence(request);
        yield page(
            "payload", "Payload of message " + sequence, OneMessage.payloadOf(source, sequence));
      }
      default -> throw new Refusal(404, "There is no page " + request.path() + ".");
    };
  }

  private static void refuseOthers(PageRequest request, boolean changes) {
    if (!request.method().equals("GET") && !(changes && request.isPost())) {
      throw new Refusal(405, "The page %s is not for this.".formatted(request.path()));
    }
  }

  private PageResponse page(String path, String title, Html content) {
    return Frame.page(200, path, place, title, content);
  }

  private static long sequence(PageRequest request) {
    Long sequence = request.number("sequence");
    if (sequence == null) {
      throw new Refusal(400, "Say which message: sequence is missing.");
    }
    return sequence;
  }

  private static PageResponse file(String name, String type) {
    try (InputStream in = OutboxPage.class.getResourceAsStream(name)) {
      return PageResponse.of(200, type, new String(requireNonNull(in, name).readAllBytes(), UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Ends what it reads; what a driver does not interrupt ends by itself. */
  @Override
  public void close() {
    threads.shutdownNow();
  }
}
