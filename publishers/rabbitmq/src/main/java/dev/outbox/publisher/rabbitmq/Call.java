package dev.outbox.publisher.rabbitmq;

import static java.util.Objects.requireNonNull;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.ShutdownSignalException;
import dev.outbox.publisher.core.Destination;
import dev.outbox.publisher.core.Outcome;
import dev.outbox.publisher.core.Reconnecting;
import dev.outbox.publisher.core.Reconnecting.NoConnectionException;
import dev.outbox.publisher.core.SilentPlaces;
import dev.outbox.publisher.rabbitmq.Run.Item;
import dev.outbox.publisher.rabbitmq.Sent.End;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * One call of publish. All keys are sent at once, of each key one message at a time: the next one
 * goes when the broker has confirmed the one before it (P2).
 *
 * <p>RabbitMQ closes the channel because of one message, and says why, but not which one it was. It
 * keeps what it took before that message, without a confirm; what came behind is gone. So
 * everything that was on its way is sent again, each message alone. The one that closes the channel
 * again is to blame.
 *
 * <p>Only the calling thread sends; the thread that reads the connection reports. Only writing
 * blocks the calling thread without a time limit, and {@link #kill} ends that.
 */
final class Call {
  private static final long CHECK_EVERY = TimeUnit.MILLISECONDS.toNanos(50);
  private static final Result NO_TIME = Result.unavailable("no time was left to send it");

  private final Setup setup;
  private final SilentPlaces<Place> places;
  private final Timing timing;
  private final Outcome<Run> outcome;
  private final long start = System.nanoTime();
  private final BlockingQueue<End> ends = new LinkedBlockingQueue<>();
  private final Set<Sent> inFlight = new LinkedHashSet<>();
  private final Deque<Run> ready = new ArrayDeque<>();
  private final List<Item> lost = new ArrayList<>();
  private final Map<Place, Traffic> traffic = new HashMap<>();
  private final Map<Place, Result> unusable = new HashMap<>();

  /** Of these, one may have closed the channel; they are sent alone, when all others are done. */
  private final Set<Item> suspects = new LinkedHashSet<>();

  private boolean lookedUpAgain;
  private long nextCheck = start + CHECK_EVERY;
  private volatile @Nullable Link link;

  /** What does not change from call to call. */
  record Setup(
      Mapping mapping,
      BiConsumer<StoredMessage, Runnable> aroundSend,
      Timing timing,
      String address) {}

  /** What this call has on its way to one destination. */
  private static final class Traffic {
    final Deque<Run> waiting = new ArrayDeque<>();
    int inFlight;
    long since;
  }

  Call(Setup setup, SilentPlaces<Place> places, List<StoredMessage> messages) {
    this.setup = setup;
    this.places = places;
    this.timing = setup.timing();
    this.outcome = new Outcome<>(messages, Run::new);
    ready.addAll(outcome.runs());
  }

  /** Ends whatever this call hangs in; by another thread. */
  void kill() {
    Link hangs = link;
    if (hangs != null) {
      hangs.kill();
    }
  }

  List<Result> run(Reconnecting<Link> links) throws InterruptedException {
    try {
      while (!outcome.isComplete() && timeLeft() > 0) {
        Link via = links.get(Math.min(timing.connect(), timeLeft()));
        link = via;
        serve(via);
      }
      decideAll(NO_TIME);
    } catch (NoConnectionException e) {
      outcome.decideAll(Result.unavailable(String.valueOf(e.getMessage())));
    } finally {
      link = null;
      inFlight.forEach(Sent::leave);
    }
    return outcome.results();
  }

  /** Sends until all is decided, or the channel is closed. */
  private void serve(Link via) throws InterruptedException {
    if (via.block() != null) {
      decideAll(blocked(via.block()));
      return;
    }
    ConfirmChannel lane = null;
    try {
      lane = via.lane();
      while (!outcome.isComplete() && (lane.isOpen() || !inFlight.isEmpty())) {
        if (lane.isOpen() && via.block() == null) {
          sendReady(via, lane);
        }
        await(via);
        giveUpOnLate(via);
      }
      if (!lane.isOpen()) {
        closed(via, lane.closeReason());
      }
    } catch (Link.NoChannelException e) {
      decideAll(Result.unavailable(String.valueOf(e.getMessage())));
    } catch (IOException | ShutdownSignalException e) {
      broken(via, e);
    } finally {
      if (lane != null) {
        lane.release();
      }
    }
  }

  private void await(Link via) throws InterruptedException {
    if (inFlight.isEmpty()) {
      return;
    }
    End end = ends.poll(CHECK_EVERY, TimeUnit.NANOSECONDS);
    for (; end != null; end = ends.poll()) {
      ended(via, end);
    }
  }

  // ---- sending

  private void sendReady(Link via, ConfirmChannel lane) throws IOException {
    while (!ready.isEmpty() && lane.isOpen() && (via.isProven() || inFlight.isEmpty())) {
      Run run = ready.poll();
      Item item = run.nextToSend();
      if (item != null && isUsable(item, via)) {
        sendInTurn(item, via, lane);
      }
    }
    while (ready.isEmpty() && inFlight.isEmpty() && lane.isOpen() && !suspects.isEmpty()) {
      Item item = suspects.iterator().next();
      suspects.remove(item);
      if (item == item.run.nextToSend() && isUsable(item, via)) {
        send(item, lane);
      }
    }
  }

  /** Sends it now, or once the result that it has to wait for is known. */
  private void sendInTurn(Item item, Link via, ConfirmChannel lane) throws IOException {
    Place to = item.to();
    if (item.alone || via.isForbidden(to)) {
      item.alone = true;
      suspects.add(item);
      return;
    }
    Traffic there = traffic(to);
    if (places.isSlow(to) && there.inFlight > 0) {
      there.waiting.add(item.run);
      return;
    }
    send(item, lane);
  }

  /** Whether its destination is there and was not given up on; it is decided if not. */
  private boolean isUsable(Item item, Link via) throws IOException {
    if (item.outgoing == null && !make(item)) {
      return false;
    }
    Place to = item.to();
    Result known = unusable.getOrDefault(to, unusable.get(to.wholeExchange()));
    if (known == null && !via.hasExchange(to.exchange())) {
      known = notThere(to.wholeExchange());
    }
    if (known == null && places.isStuck(to)) {
      known = unavailable(to, "earlier messages are still on their way");
    }
    if (known == null) {
      known = places.known(item.message());
    }
    if (known instanceof Result.Delivered) { // after its call had given up on it
      outcome.delivered(item.run, known);
      ready.add(item.run);
    } else if (known != null) {
      decide(item, known);
    }
    return known == null;
  }

  private boolean make(Item item) {
    try {
      Mapping.Outgoing made = setup.mapping().of(item.message());
      String tooLong = Mapping.tooLong(made.place());
      if (tooLong == null) {
        item.outgoing = made;
        return true;
      }
      decide(item, Result.rejected(tooLong));
    } catch (Destination.MissingException e) {
      decide(item, e.result());
    }
    return false;
  }

  private void send(Item item, ConfirmChannel lane) throws IOException {
    Sent sent = new Sent(item, item.to(), ends, places);
    try {
      setup.aroundSend().accept(item.message(), () -> sendNow(sent, lane));
    } catch (SendException e) {
      if (e.getCause() instanceof IllegalArgumentException refused) {
        boolean unused = end(sent);
        decide(item, Result.rejected(item.to() + ": " + refused.getMessage()));
        return;
      }
      lane.lost();
      if (lane.isOpen()) { // the client may not know yet
        throw new IOException(e.getCause());
      }
      return;
    }
    if (item == item.run.nextToSend()) {
      throw new IllegalStateException(
          "the function around a send has not sent %s: it has to run what it is given"
              .formatted(item.message()));
    }
  }

  private void sendNow(Sent sent, ConfirmChannel lane) {
    begin(sent);
    try {
      lane.send(sent, requireNonNull(sent.item.outgoing));
    } catch (IOException | ShutdownSignalException | IllegalArgumentException e) {
      throw new SendException(e);
    }
  }

  /**
   * Carries the client's exception through a function of the user's, whose own ones mean other
   * things.
   */
  private static final class SendException extends RuntimeException {
    SendException(Exception cause) {
      super(cause);
    }
  }

  private Traffic traffic(Place to) {
    return traffic.computeIfAbsent(to, name -> new Traffic());
  }

  private void begin(Sent sent) {
    Traffic there = traffic(sent.place);
    if (there.inFlight++ == 0) {
      there.since = System.nanoTime();
    }
    inFlight.add(sent);
    sent.item.run.inFlight = true;
  }

  private boolean end(Sent sent) {
    if (!inFlight.remove(sent)) {
      return false;
    }
    sent.item.run.inFlight = false;
    Traffic there = traffic(sent.place);
    there.inFlight--;
    there.since = System.nanoTime();
    ready.addAll(there.waiting);
    there.waiting.clear();
    return true;
  }

  // ---- what came of it

  private void ended(Link via, End end) {
    Item item = end.sent().item;
    Place to = end.sent().place;
    if (!end(end.sent())) {
      return;
    }
    switch (end.how()) {
      case CONFIRMED -> {
        places.acknowledged(to);
        if (item.alone) {
          via.allowed(to);
        }
        if (item.isOpen()) {
          outcome.delivered(item.run, end.sent().delivered());
          ready.add(item.run);
        }
      }
      case REFUSED -> {
        if (item.isOpen()) {
          decide(item, unavailable(to, end.why()));
        }
      }
      case LOST -> lost.add(item);
    }
  }

  /** The broker has closed the channel, or the connection is gone; nothing is on its way. */
  private void closed(Link via, @Nullable ShutdownSignalException cause) {
    int code = Link.replyCode(cause);
    List<Item> took = lost.stream().filter(Item::isOpen).toList();
    lost.clear();
    took.forEach(item -> ready.add(item.run));
    if (took.isEmpty() || !isAboutMessages(code)) {
      decideAll(Result.unavailable(gone(Link.text(cause))));
    } else if (took.size() == 1 && took.get(0).alone) {
      blame(took.get(0), via, code, Link.text(cause));
    } else if (code == AMQP.NOT_FOUND && !lookedUpAgain) {
      lookedUpAgain = true;
      via.forgetExchanges();
    } else {
      took.forEach(item -> item.alone = true);
    }
  }

  /** Codes with which the broker refuses something; the others are its own troubles. */
  private static boolean isAboutMessages(int code) {
    return code == AMQP.ACCESS_REFUSED
        || code == AMQP.NOT_FOUND
        || code == AMQP.RESOURCE_LOCKED
        || code == AMQP.PRECONDITION_FAILED
        || (code >= AMQP.FRAME_ERROR && code <= AMQP.UNEXPECTED_FRAME)
        || code == AMQP.NOT_IMPLEMENTED;
  }

  private void blame(Item item, Link via, int code, String text) {
    Place to = item.to();
    switch (code) {
      case AMQP.PRECONDITION_FAILED -> decide(item, Result.rejected(to + ": " + text));
      case AMQP.NOT_FOUND -> decide(item, notThere(to.wholeExchange()));
      case AMQP.RESOURCE_LOCKED -> decide(item, unavailable(to, text));
      case AMQP.ACCESS_REFUSED -> {
        // A right may be given later, and a broker that cannot ask its directory refuses too.
        Place place = text.contains("to topic '") ? to : to.wholeExchange();
        Result refused = unavailable(place, text);
        via.forbidden(place);
        unusable.put(place, refused);
        decide(item, refused);
      }
      default -> decide(item, Result.failed(to + ": " + text));
    }
  }

  private Result notThere(Place exchange) {
    Result result = unavailable(exchange, "it does not exist: declare it");
    unusable.put(exchange, result);
    return result;
  }

  private static Result unavailable(Place to, String why) {
    return Result.unavailable(to + ": " + why, to.name());
  }

  private void broken(Link via, Exception e) {
    String why = via.isOpen() ? Link.text(e) : via.closeReason();
    via.kill();
    for (End end = ends.poll(); end != null; end = ends.poll()) {
      ended(via, end);
    }
    decideAll(Result.unavailable(gone(why)));
  }

  private String gone(String why) {
    return "the connection to RabbitMQ at %s was closed: %s".formatted(setup.address(), why);
  }

  private Result blocked(Link.@Nullable Block block) {
    return Result.unavailable(
        "RabbitMQ at %s takes no messages now: %s"
            .formatted(setup.address(), block == null ? "" : block.why()));
  }

  // ---- what takes too long

  private void giveUpOnLate(Link via) {
    long now = System.nanoTime();
    Link.Block block = via.block();
    if (block != null && (inFlight.isEmpty() || now - block.since() > timing.impatience())) {
      decideAll(blocked(block));
      return;
    }
    if (now - nextCheck < 0) {
      return;
    }
    nextCheck = now + CHECK_EVERY;
    boolean over = timeLeft() <= 0;
    List<Place> late = traffic.keySet().stream().filter(to -> isLate(to, now) || over).toList();
    if (!late.isEmpty() && via.answers(timing.answer())) {
      late.forEach(this::leave);
    }
    if (over) {
      giveUp(via);
    } else if (!late.isEmpty()) {
      nextCheck = System.nanoTime() + timing.impatience(); // the question took its time
    }
  }

  private boolean isLate(Place to, long now) {
    Traffic there = traffic(to);
    return there.inFlight > 0 && now - there.since > places.patience(to);
  }

  /** Gives up on a destination that confirms nothing while the broker answers. */
  private void leave(Place to) {
    Result result = unavailable(to, "not confirmed in time");
    for (Sent sent : List.copyOf(inFlight)) {
      if (sent.place.equals(to) && sent.leave() && end(sent)) {
        places.slow(to);
        unusable.put(to, result);
        if (sent.item.isOpen()) {
          decide(sent.item, result);
        }
      }
    }
  }

  /** At the deadline. */
  private void giveUp(Link via) {
    if (!outcome.isComplete()) {
      if (inFlight.isEmpty()) {
        decideAll(NO_TIME);
      } else {
        decideAll(Result.unavailable("RabbitMQ at %s does not answer".formatted(setup.address())));
        via.kill();
      }
    }
  }

  private void decide(Item item, Result result) {
    outcome.decide(item.run, item.position(), result);
  }

  private void decideAll(Result result) {
    inFlight.forEach(Sent::leave);
    inFlight.clear();
    outcome.decideAll(result);
  }

  private long timeLeft() {
    return start + timing.deadline() - System.nanoTime();
  }
}
