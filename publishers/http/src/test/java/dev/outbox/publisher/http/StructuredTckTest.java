package dev.outbox.publisher.http;

import io.cloudevents.CloudEvent;
import io.cloudevents.jackson.JsonFormat;

class StructuredTckTest extends HttpPublisherTck {
  @Override
  void mode(HttpPublisher.Builder builder) {
    builder.structured();
  }

  @Override
  byte[] payload(Receiver.Request request) {
    CloudEvent event = event(request);
    return event.getData() == null ? new byte[0] : event.getData().toBytes();
  }

  @Override
  String key(Receiver.Request request) {
    return (String) event(request).getExtension("partitionkey");
  }

  private static CloudEvent event(Receiver.Request request) {
    return new JsonFormat().deserialize(request.body());
  }
}
