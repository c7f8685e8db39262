package dev.outbox.publisher.http;

class BinaryTckTest extends HttpPublisherTck {
  @Override
  void mode(HttpPublisher.Builder builder) {}

  @Override
  byte[] payload(Receiver.Request request) {
    return request.body();
  }

  @Override
  String key(Receiver.Request request) {
    return request.decoded("ce-partitionkey");
  }
}
