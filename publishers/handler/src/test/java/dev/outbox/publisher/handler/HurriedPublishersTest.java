package dev.outbox.publisher.handler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.testkit.engine.EngineTestKit;

/** Handlers as they are called in a hurry; the suite catches each mistake by the rule it breaks. */
class HurriedPublishersTest {

  /** Calls handlers in threads, with one method for each mistake. */
  private abstract static class Hurried implements MessagePublisher {
    final ExecutorService threads =
        Executors.newCachedThreadPool(
            task -> {
              Thread thread = new Thread(task);
              thread.setDaemon(true);
              return thread;
            });
    final MessageHandler handler;

    Hurried(MessageHandler handler) {
      this.handler = handler;
    }

    Future<Result> begin(StoredMessage message) {
      return threads.submit(
          () -> {
            handler.handle(message);
            return Result.delivered();
          });
    }

    /** Waits at most so long. */
    static Result end(Future<Result> running, long ms) throws InterruptedException {
      try {
        return running.get(ms, TimeUnit.MILLISECONDS);
      } catch (TimeoutException e) {
        return Result.unavailable("slow", "a handler");
      } catch (ExecutionException e) {
        return result(e.getCause());
      }
    }

    static Result result(Throwable e) {
      if (e instanceof UnavailableException) {
        return Result.unavailable("" + e, "a handler");
      }
      return e instanceof RejectedException ? Result.rejected("" + e) : Result.failed("" + e);
    }

    @Override
    public void close() {
      threads.shutdownNow();
    }
  }

  /** All messages of a call at once, whatever their keys. */
  static class AllAtOnce extends HandlerTck {
    @Override
    MessagePublisher publisher(MessageHandler handler) {
      return new Hurried(handler) {
        @Override
        public List<Result> publish(List<StoredMessage> messages) throws InterruptedException {
          List<Result> results = new ArrayList<>();
          for (Future<Result> one : messages.stream().map(this::begin).toList()) {
            results.add(end(one, 400));
          }
          return results;
        }
      };
    }
  }

  /** Delivered once the handler is called. */
  static class FireAndForget extends HandlerTck {
    @Override
    MessagePublisher publisher(MessageHandler handler) {
      return new Hurried(handler) {
        @Override
        public List<Result> publish(List<StoredMessage> messages) {
          return messages.stream()
              .map(
                  message -> {
                    Future<Result> unused = begin(message);
                    return Result.delivered();
                  })
              .toList();
        }
      };
    }
  }

  /** In the calling thread, one after the other, for as long as it takes. */
  static class NoTimeout extends HandlerTck {
    @Override
    MessagePublisher publisher(MessageHandler handler) {
      return new Hurried(handler) {
        @Override
        public List<Result> publish(List<StoredMessage> messages) {
          List<Result> results = new ArrayList<>();
          Set<String> stopped = new HashSet<>();
          for (StoredMessage message : messages) {
            Result result = Result.unavailable("behind another", "a handler");
            if (!stopped.contains(message.key())) {
              try {
                handler.handle(message);
                result = Result.delivered();
              } catch (Exception e) {
                result = result(e);
              }
            }
            if (!(result instanceof Result.Delivered)) {
              stopped.add(message.key());
            }
            results.add(result);
          }
          return results;
        }
      };
    }
  }

  /** Whatever a handler throws has failed. */
  static class AllFails extends HandlerTck {
    @Override
    MessagePublisher publisher(MessageHandler handler) {
      return HandlerPublisher.builder()
          .timeout(timeout())
          .onOthers(
              message -> {
                try {
                  handler.handle(message);
                } catch (RuntimeException e) {
                  throw new IllegalStateException(e);
                }
              })
          .build();
    }
  }

  @Test
  void allAtOnceBreaksTheOrderOfKeys() {
    caught(AllAtOnce.class, "P2");
  }

  @Test
  void fireAndForgetDeliversWhatWasNotHandled() {
    caught(FireAndForget.class, "P1");
  }

  @Test
  void whoWaitsForAllDoesNotReturn() {
    caught(NoTimeout.class, "P5");
  }

  @Test
  void whoTellsNoFailuresApartMakesDeadLettersOfOutages() {
    caught(AllFails.class, "P3");
  }

  private static void caught(Class<?> suite, String rule) {
    List<String> failures =
        EngineTestKit.engine("junit-jupiter")
            .selectors(DiscoverySelectors.selectClass(suite))
            .configurationParameter("outbox.tck.summary", "false")
            .execute()
            .testEvents()
            .failed()
            .stream()
            .map(
                event ->
                    event
                        .getRequiredPayload(TestExecutionResult.class)
                        .getThrowable()
                        .orElseThrow())
            .map(Throwable::getMessage)
            .toList();
    assertThat(failures).as("what the suite says").anyMatch(text -> text.startsWith(rule));
  }
}
