package dev.outbox.cli;

import dev.outbox.spi.store.InspectionStore;
import dev.outbox.ui.OutboxPage;
import dev.outbox.ui.PageServer;
import java.io.PrintWriter;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
    name = "ui",
    description = {
      "Serve a page that shows what waits in the outbox and why, until Ctrl-C.",
      "Its address has a random token, without which nobody gets an answer."
    })
final class UiCommand extends StoreCommand {
  @Option(
      names = "--port",
      description = "The port; 0: any that is free. Default: ${DEFAULT-VALUE}.")
  private int port = PageSettings.DEFAULT_PORT;

  @Option(
      names = "--host",
      description = "The address of this machine to listen at; default: ${DEFAULT-VALUE}.")
  private String host = PageSettings.DEFAULT_HOST;

  @Option(
      names = "--allow-changes",
      description =
          "Let the page requeue and discard dead letters, cancel messages, and pause; else it only shows.")
  private boolean allowChanges;

  @Override
  int connections() {
    return OutboxPage.MOST_READS;
  }

  @Override
  int run(Object outbox, PrintWriter out) {
    InspectionStore store = Stores.as(InspectionStore.class, outbox);
    Stores.verify(store);
    if (allowChanges) {
      refuseGap(store, "--archive=none, and no copy of what is discarded is kept");
    }
    PageSettings settings = new PageSettings(host, port, allowChanges, null);
    OutboxPage page = settings.page(store, System.getProperty("user.name", "unknown"));
    try (PageServer server = settings.serve(Map.of("", page), Map.of());
        Cleanup ignored = Cleanup.atEnd(server::close)) {
      if (!server.isLocal()) {
        err().println("WARNING: " + PageSettings.WARNING);
        err().flush();
      }
      out.println(server.url());
      out.println(
          allowChanges
              ? "Who has this address can requeue and discard dead letters, cancel messages, and pause. Ctrl-C ends it."
              : "It only shows. Ctrl-C ends it.");
      out.flush();
      new CountDownLatch(1).await(); // a signal ends it
      return 0;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Main.NOT_DONE;
    }
  }
}
