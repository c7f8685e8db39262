// What producers in other languages insert; PlainDocumentsTest runs it, the documents show it.

// tag::insert
db.outbox_message.insertOne({
  seq: Timestamp(0, 0),
  aggregateType: "order",
  aggregateId: "order-1",
  eventType: "OrderPaid",
  payload: '{"total": 12.50}'
});
// end::insert

// tag::full
db.outbox_message.insertOne({
  seq: Timestamp(0, 0),
  id: UUID("0197a6b0-5f0e-7c3e-9d1c-3f6f0b7a1d11"),
  aggregateType: "order",
  aggregateId: "order-1",
  eventType: "ReminderDue",
  partitionKey: "customer-7",
  payload: BinData(0, "CgcxMi41MA=="),
  contentType: "application/x-protobuf",
  headers: [
    { name: "traceparent", value: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" },
    { name: "tenant", value: "a" }
  ],
  correlationId: "request-17",
  availableAt: ISODate("2036-01-01T00:00:00Z"),
  expiresAt: ISODate("2036-02-01T00:00:00Z"),
  maxAttempts: 3
});
// end::full

// tag::unordered
db.outbox_message.insertOne({
  seq: Timestamp(0, 0),
  id: UUID("6d0c1c9e-6c1f-4e6a-a5f1-0d5f5c0f2b11"),
  partitionKey: "6d0c1c9e-6c1f-4e6a-a5f1-0d5f5c0f2b11",
  aggregateType: "order",
  aggregateId: "order-1",
  eventType: "OrderViewed",
  payload: "{}"
});
// end::unordered

// tag::dedup
db.outbox_dedup.insertOne({ _id: "order-1 paid by request-17", createdAt: new Date() });
db.outbox_message.insertOne({
  seq: Timestamp(0, 0),
  aggregateType: "order",
  aggregateId: "order-1",
  eventType: "OrderPaid",
  payload: "{}",
  dedupKey: "order-1 paid by request-17"
});
// end::dedup
