-- tag::insert
insert into outbox_message (aggregate_type, aggregate_id, event_type, payload)
values ('order', 'order-1', 'OrderPaid', convert_to('{"total": 12.50}', 'UTF8'));
-- end::insert

-- tag::parameters
prepare pay (text, text) as
insert into outbox_message (aggregate_type, aggregate_id, event_type, payload)
values ('order', $1, 'OrderPaid', convert_to($2, 'UTF8'));
-- end::parameters

-- tag::full
insert into outbox_message
  (id, aggregate_type, aggregate_id, event_type, partition_key, payload, content_type,
   headers, correlation_id, available_at, expires_at, max_attempts)
values
  ('0197a6b0-5f0e-7c3e-9d1c-3f6f0b7a1d11', 'order', 'order-1', 'ReminderDue', 'customer-7',
   '\x0a0731322e3530', 'application/x-protobuf',
   '[["traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"], ["tenant", "a"]]',
   'request-17', now() + interval '14 days', now() + interval '21 days', 3);
-- end::full

-- tag::unordered
insert into outbox_message (id, partition_key, aggregate_type, aggregate_id, event_type, payload)
select id, id::text, 'order', 'order-1', 'OrderViewed', convert_to('{}', 'UTF8') from gen_random_uuid() id;
-- end::unordered

-- tag::dedup
with fresh as (
  insert into outbox_dedup (dedup_key) values ('order-1 paid by request-17')
  on conflict do nothing
  returning dedup_key
)
insert into outbox_message (aggregate_type, aggregate_id, event_type, payload, dedup_key)
select 'order', 'order-1', 'OrderPaid', convert_to('{}', 'UTF8'), dedup_key from fresh;
-- end::dedup
