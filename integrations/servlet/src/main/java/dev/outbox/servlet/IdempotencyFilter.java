package dev.outbox.servlet;

import static java.util.Objects.requireNonNull;

import dev.outbox.InvalidMessageException;
import dev.outbox.Texts;
import dev.outbox.inbox.Begin;
import dev.outbox.inbox.Begin.Lock;
import dev.outbox.inbox.Inbox;
import dev.outbox.inbox.InboxKey;
import dev.outbox.inbox.InboxResult;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Handles requests with an {@code Idempotency-Key} once, as the IETF's draft of that header asks. A
 * client that got no answer sends the same request with the same key again, and is given the first
 * answer.
 *
 * <table>
 *   <caption>What a request is answered, before a servlet sees it</caption>
 *   <tr><th>the key</th><th>the answer</th></tr>
 *   <tr><td>is missing, or cannot be one</td><td>400</td></tr>
 *   <tr><td>is of a request that is being handled</td><td>409, with {@code Retry-After}</td></tr>
 *   <tr><td>was used for another request</td><td>422</td></tr>
 *   <tr><td>is of a request that was handled</td><td>the first answer: status, chosen headers, and
 *       the body byte for byte, with {@code Idempotent-Replayed: true}</td></tr>
 *   <tr><td>is of such a request, whose answer was too large to be kept</td><td>410</td></tr>
 * </table>
 *
 * <p>Each {@linkplain Builder#user user} has keys of their own, so that nobody is given the answer
 * to another user's request, or kept from a key. That holds where this filter stands behind the one
 * that finds out who the user is, and {@link Builder#user} tells all users apart. Requests without
 * a user share their keys: whoever sends the same request with the same key gets the same answer.
 *
 * <p>Requests are the same when method, host, URI, query and body are. Of a form the parameters are
 * compared, of a multipart request nothing in its body. The container has read the body of a form
 * that is posted: a servlet sees its parameters, and an empty stream.
 *
 * <p>The key is free again, and the next request with it is handled, when the servlet throws, calls
 * {@code sendError}, or answers with 500 and more, or with one of 401, 403, 408, 409, 423, 425 and
 * 429, after which a client may come again. It is free, too, when the {@link Builder#lock} runs
 * out, after a crash for example. So effects happen at least once, and two requests with one key
 * never run at the same time, as long as each is handled within its lock.
 *
 * <p>The answer is sent when it is whole, and has been stored: what a servlet flushes waits. One
 * that outgrows {@value Answer#MAX_BODY} bytes is sent as it comes, and not kept; the key is used
 * also when the client hangs up meanwhile. Asynchronous handling ({@code startAsync}) is refused
 * with {@code IllegalStateException}. The answer may come from a forward, to a JSP for example;
 * Tomcat 11 sends it empty unless its {@code Context} has {@code
 * suspendWrappedResponseAfterForward="false"}. What a request is forwarded to, and an error's page,
 * are parts of it: there this filter passes by.
 *
 * <p>Safe for use by many threads. Without Spring, register it with the servlet context; in Spring
 * Boot, by a {@code FilterRegistrationBean} with the paths that need it.
 */
public final class IdempotencyFilter implements Filter {

  /** The header that is asked for. */
  public static final String HEADER = IdempotencyKey.HEADER;

  /** The header that says that an answer is not a new one. */
  public static final String REPLAYED = "Idempotent-Replayed";

  /** Statuses after which a client comes again, because nothing was done. */
  private static final Set<Integer> COME_AGAIN = Set.of(401, 403, 408, 409, 423, 425, 429);

  private static final Logger log = LoggerFactory.getLogger(IdempotencyFilter.class);

  private final Inbox<?> inbox;
  private final String name;

  /** An attribute of requests that have come by: what they are dispatched to is a part of them. */
  private final String seen;

  private final Set<String> methods;
  private final boolean required;
  private final Function<HttpServletRequest, @Nullable String> user;
  private final Duration lock;
  private final List<String> headers;
  private final int maxRequest;
  private final int maxAnswer;

  private IdempotencyFilter(Builder b) {
    this.inbox = b.inbox;
    this.name = b.name;
    this.seen = IdempotencyFilter.class.getName() + "." + name;
    this.methods = b.methods;
    this.required = b.required;
    this.user = b.user;
    this.lock = b.lock;
    this.headers = b.headers;
    this.maxRequest = b.maxRequest;
    this.maxAnswer = b.maxAnswer;
  }

  /**
   * Starts with the defaults that each setter names.
   *
   * @param inbox its retention says how long answers are kept
   * @param name the consumer in the inbox's keys, as {@code orders}: requests of a user with one
   *     key are the same where this is the same
   * @throws InvalidMessageException as {@link InboxKey}
   */
  public static Builder builder(Inbox<?> inbox, String name) {
    return new Builder(inbox, name);
  }

  @Override
  public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
      throws IOException, ServletException {
    if (request instanceof HttpServletRequest http
        && response instanceof HttpServletResponse answer
        && http.getAttribute(seen) == null
        && methods.contains(http.getMethod())
        && (required || http.getHeader(HEADER) != null)) {
      http.setAttribute(seen, true);
      handle(http, answer, chain);
    } else {
      chain.doFilter(request, response);
    }
  }

  private void handle(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws IOException, ServletException {
    InboxKey key;
    try {
      key = IdempotencyKey.of(request, name, user.apply(request));
    } catch (InvalidMessageException e) {
      closeUnlessRead(request, response);
      new Problem(400, "Idempotency-Key is missing or wrong", String.valueOf(e.getMessage()))
          .send(response);
      return;
    }
    KeptRequest kept = KeptRequest.read(request, maxRequest);
    if (kept == null) {
      closeUnlessRead(request, response);
      new Problem(
              413, "Request is too large", "The body has more than %s bytes.".formatted(maxRequest))
          .send(response);
      return;
    }
    begun(inbox.begin(key, lock, kept.fingerprint()), kept, response, chain);
  }

  private void begun(
      Begin<?> begin, KeptRequest request, HttpServletResponse response, FilterChain chain)
      throws IOException, ServletException {
    if (begin instanceof Begin.Started<?> started) {
      run(started.lock(), request, new KeptResponse(response, maxAnswer), chain);
      return;
    }
    closeUnlessRead(request, response);
    if (begin instanceof Begin.Done<?> done) {
      replay(done.result(), response);
    } else if (begin instanceof Begin.InProgress<?> other) {
      long seconds = other.left().plusMillis(999).toSeconds(); // rounded up
      response.setHeader("Retry-After", Long.toString(seconds));
      new Problem(
              409,
              "A request is outstanding for this Idempotency-Key",
              "A request with the same key is being handled. Send it again later.")
          .send(response);
    } else {
      new Problem(
              422,
              "Idempotency-Key is already used",
              "The key was used for another request. Send this one with a key of its own.")
          .send(response);
    }
  }

  /**
   * Announces that the connection is closed. A container closes it unannounced when an answer is
   * sent before the body was read, and the client's next request fails.
   */
  private void closeUnlessRead(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    if (!KeptRequest.skipBody(request, maxRequest) && request.getProtocol().startsWith("HTTP/1.")) {
      response.setHeader("Connection", "close");
    }
  }

  private void run(Lock<?> lock, KeptRequest request, KeptResponse response, FilterChain chain)
      throws IOException, ServletException {
    try {
      chain.doFilter(request, response);
      settle(lock, response);
    } catch (IOException | ServletException | RuntimeException | Error e) {
      if (response.isCutOff() && isKept(response.getStatus())) {
        complete(lock, response.answer(headers).result()); // without its body
      } else {
        release(lock, e.toString());
      }
      throw e;
    }
    if (!response.isError()) { // else the container writes the answer
      response.send();
    }
  }

  private static boolean isKept(int status) {
    return status < 500 && !COME_AGAIN.contains(status);
  }

  private void settle(Lock<?> lock, KeptResponse response) {
    if (response.isError()) {
      release(lock, "sendError(%s)".formatted(response.getStatus()));
    } else if (isKept(response.getStatus())) {
      complete(lock, response.answer(headers).result());
    } else {
      release(lock, "status %s".formatted(response.getStatus()));
    }
  }

  /** Stores the answer; the client gets it even if that fails, because the effects are there. */
  private static void complete(Lock<?> lock, InboxResult result) {
    try {
      if (!lock.complete(result)) {
        log.warn(
            "The lock of {} ran out before the request was answered, and another request has it: choose a longer lock",
            lock.key());
      }
    } catch (RuntimeException e) {
      log.error(
          "The answer to {} is not kept: when it arrives again after its lock, it is handled again",
          lock.key(),
          e);
    }
  }

  private static void release(Lock<?> lock, String why) {
    try {
      boolean unused = lock.release(why);
    } catch (RuntimeException e) {
      log.warn("The lock of {} was not released: it runs out by itself", lock.key(), e);
    }
  }

  private static void replay(InboxResult result, HttpServletResponse response) throws IOException {
    Answer answer = Answer.of(result);
    if (answer.body() == null) {
      new Problem(
              410,
              "The answer was not kept",
              "The request was handled, and answered with status %s; that answer was too large to be kept."
                  .formatted(answer.status()))
          .send(response);
      return;
    }
    response.setHeader(REPLAYED, "true");
    answer.send(response);
  }

  /** Not safe for use by many threads. */
  public static final class Builder {
    private final Inbox<?> inbox;
    private final String name;
    private Set<String> methods = Set.of("POST", "PATCH");
    private boolean required = true;
    private Function<HttpServletRequest, @Nullable String> user = HttpServletRequest::getRemoteUser;
    private Duration lock = Duration.ofMinutes(1);
    private List<String> headers =
        List.of(
            "Content-Type",
            "Content-Disposition",
            "Content-Encoding",
            "Content-Language",
            "ETag",
            "Last-Modified",
            "Link",
            "Location");
    private int maxRequest = 1_000_000;
    private int maxAnswer = Answer.MAX_BODY;

    private Builder(Inbox<?> inbox, String name) {
      this.inbox = requireNonNull(inbox, "inbox");
      this.name = Texts.name("name", name);
    }

    /** Requests with other methods pass by. Default: POST and PATCH. */
    public Builder methods(String... methods) {
      this.methods = Set.of(methods);
      return this;
    }

    /** Requests without a key pass by, in the place of being answered with 400. */
    public Builder optional() {
      required = false;
      return this;
    }

    /**
     * The user of a request: each has keys of their own. Default: {@code getRemoteUser}. Whatever
     * else tells users apart, such as a tenant or an API key, has to be part of this text: users
     * with the same text share their keys, and so their answers.
     *
     * @param user is called in the thread of the request; null, or an empty text, is nobody
     */
    public Builder user(Function<HttpServletRequest, @Nullable String> user) {
      this.user = requireNonNull(user, "user");
      return this;
    }

    /**
     * How long a request may take before another with its key is handled, too. Default: 1 minute.
     *
     * @param lock as {@link Inbox#begin} takes it
     */
    public Builder lock(Duration lock) {
      this.lock = requireNonNull(lock, "lock");
      return this;
    }

    /**
     * The headers of an answer that are kept. Default: Content-Type, Content-Disposition,
     * Content-Encoding, Content-Language, ETag, Last-Modified, Link and Location.
     */
    public Builder headers(String... headers) {
      this.headers = List.of(headers);
      return this;
    }

    /**
     * The most bytes of a request's body, which is held in memory; a larger one is answered with
     * 413. So is a larger multipart request that tells its length, though its body is not held.
     * Default: 1,000,000.
     *
     * @param maxRequest 0 or more
     */
    public Builder maxRequest(int maxRequest) {
      if (maxRequest < 0) {
        throw new IllegalArgumentException(
            "maxRequest is %s, allowed is 0 and more".formatted(maxRequest));
      }
      this.maxRequest = maxRequest;
      return this;
    }

    /** For tests: the most bytes of an answer's body that are kept. */
    Builder maxAnswer(int maxAnswer) {
      this.maxAnswer = maxAnswer;
      return this;
    }

    /** Connects to nothing. */
    public IdempotencyFilter build() {
      return new IdempotencyFilter(this);
    }
  }
}
