-- tag::insert
insert into outbox_message (aggregate_type, aggregate_id, event_type, payload)
values ('order', 'order-1', 'OrderPaid', convert('{"total": 12.50}' using utf8mb4));
-- end::insert

-- tag::full
insert into outbox_message
  (id, aggregate_type, aggregate_id, event_type, partition_key, payload, content_type,
   headers, correlation_id, available_at, expires_at, max_attempts)
values
  ('0197a6b0-5f0e-7c3e-9d1c-3f6f0b7a1d11', 'order', 'order-1', 'ReminderDue', 'customer-7',
   x'0a0731322e3530', 'application/x-protobuf',
   '[["traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"], ["tenant", "a"]]',
   'request-17', utc_timestamp(6) + interval 14 day, utc_timestamp(6) + interval 21 day, 3);
-- end::full

-- tag::unordered
insert into outbox_message (id, partition_key, aggregate_type, aggregate_id, event_type, payload)
select id, id, 'order', 'order-1', 'OrderViewed', '{}' from (select uuid() as id) i;
-- end::unordered

-- tag::dedup
insert into outbox_dedup (dedup_key) values ('order-1 paid by request-17');
insert into outbox_message (aggregate_type, aggregate_id, event_type, payload, dedup_key)
values ('order', 'order-1', 'OrderPaid', '{}', 'order-1 paid by request-17');
-- end::dedup
