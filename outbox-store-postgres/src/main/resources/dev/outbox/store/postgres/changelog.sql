--liquibase formatted sql

--changeset outbox:1
--comment: q is the schema with a dot, or nothing; p is the prefix of all names

create table ${q}${p}message (
  -- The unit that a relay leases. Computed here, so that a producer in any language only inserts.
  bucket          smallint not null generated always as
                  ((hashtextextended(coalesce(partition_key, aggregate_id), 0) & 63)::smallint) stored,
  -- Stands before seq: defaults are computed in column order, so every writer has its transaction id
  -- before it draws its sequence. The low-water marks of the buckets rely on it.
  txid            xid8 not null default pg_current_xact_id(),
  seq             bigint generated always as identity (cache 1),
  status          text collate "C" not null default 'PENDING',
  id              uuid not null default gen_random_uuid(),
  aggregate_type  text collate "C" not null,
  aggregate_id    text collate "C" not null,
  event_type      text collate "C" not null,
  -- Null: the aggregate's id is the key.
  partition_key   text collate "C",
  payload         bytea not null,
  content_type    text collate "C" not null default 'application/json',
  -- [["name","value"], ...] or {"name":"value", ...}; json, not jsonb, keeps order and repeats.
  headers         json not null default '[]',
  dedup_key       text collate "C",
  correlation_id  text collate "C",
  created_at      timestamptz not null default now(),
  -- Null: at once.
  available_at    timestamptz,
  attempts        integer not null default 0,
  last_error      text,
  last_failed_at  timestamptz,
  -- No generated column: a publication leaves those out, and rows could not be deleted.
  constraint ${p}message_pk primary key (seq),
  -- The limits of OutboxMessage, so that no row by plain SQL can break a later step. What headers
  -- hold is not looked at here: such a row is claimed as a message that cannot be decoded.
  constraint ${p}message_status_known check (status in ('PENDING', 'SCHEDULED', 'BLOCKED', 'DEAD')),
  constraint ${p}message_aggregate_type_length check (char_length(aggregate_type) <= 255 and btrim(aggregate_type) <> ''),
  constraint ${p}message_aggregate_id_length check (char_length(aggregate_id) <= 255 and btrim(aggregate_id) <> ''),
  constraint ${p}message_event_type_length check (char_length(event_type) <= 255 and btrim(event_type) <> ''),
  constraint ${p}message_partition_key_length check (char_length(partition_key) <= 255 and btrim(partition_key) <> ''),
  constraint ${p}message_content_type_length check (char_length(content_type) <= 255 and btrim(content_type) <> ''),
  constraint ${p}message_dedup_key_length check (char_length(dedup_key) <= 255 and btrim(dedup_key) <> ''),
  constraint ${p}message_correlation_id_length check (char_length(correlation_id) <= 255 and btrim(correlation_id) <> ''),
  constraint ${p}message_payload_size check (octet_length(payload) <= 1000000),
  -- 16,000 bytes of headers become at most this with all escapes.
  constraint ${p}message_headers_kind check (json_typeof(headers) in ('array', 'object')),
  constraint ${p}message_headers_size check (octet_length(headers::text) <= 100000),
  constraint ${p}message_created_at_finite check (created_at between '0001-01-01 00:00:00+00' and '9999-01-01 00:00:00+00'),
  constraint ${p}message_available_at_range check (available_at >= '1970-01-01 00:00:00+00' and available_at < '9999-01-01 00:00:00+00'),
  constraint ${p}message_attempts_not_negative check (attempts >= 0),
  constraint ${p}message_scheduled_when check (status <> 'SCHEDULED' or available_at is not null),
  -- Marks begin at 0: what is below would never be read.
  constraint ${p}message_seq_positive check (seq > 0)
)
with (
  -- Messages come and go: what is large in a queue is not the table but what was deleted from it.
  -- A fixed number of rows keeps vacuum as quick after a backlog of millions as before it.
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0,
  autovacuum_vacuum_insert_threshold = 100000,
  autovacuum_analyze_scale_factor = 0,
  autovacuum_analyze_threshold = 50000
);

-- What a claim reads. A message that cannot be sent now leaves the first index once. A read in order
-- says seq + 0: for seq the planner would, with good statistics, take the primary key and filter.
create index ${p}message_pending on ${q}${p}message (bucket, (seq + 0)) where status = 'PENDING';
create index ${p}message_scheduled on ${q}${p}message (bucket, available_at, seq) where status = 'SCHEDULED';
create index ${p}message_blocked on ${q}${p}message (bucket, coalesce(partition_key, aggregate_id), (seq + 0)) where status = 'BLOCKED';
create index ${p}message_dead on ${q}${p}message ((seq + 0)) where status = 'DEAD';

-- One row a key that waits: for its next try, or for a person.
create table ${q}${p}blocked_key (
  bucket     smallint not null,
  key        text collate "C" not null,
  retry_at   timestamptz not null,
  -- The dead letter that halts the key until someone decides about it; null: not halted.
  halted_by  bigint,
  -- No BLOCKED message of the key is below.
  low_seq    bigint not null,
  constraint ${p}blocked_key_pk primary key (bucket, key),
  constraint ${p}blocked_key_bucket check (bucket between 0 and 63),
  constraint ${p}blocked_key_retry_at check (isfinite(retry_at))
);
create index ${p}blocked_key_due on ${q}${p}blocked_key (bucket, retry_at) where halted_by is null;

create table ${q}${p}bucket (
  bucket               smallint not null,
  -- Grows each time the bucket changes hands.
  token                bigint not null default 0,
  -- Random for each claim; null: free.
  owner                uuid,
  -- The worker's name, for people and for sharing.
  relay                text,
  leased_at            timestamptz,
  lease_until          timestamptz,
  served_at            timestamptz not null default '1970-01-01 00:00:00+00',
  -- Leases in a row that ran out, and how many messages are still to be handed out one at a time.
  takeovers            integer not null default 0,
  singles              integer not null default 0,
  -- No PENDING message is below; a candidate for it (0: none), and the transaction that settled that batch.
  low_water            bigint not null default 0,
  next_low_water       bigint not null default 0,
  next_low_water_txid  xid8 not null default '0',
  -- The file of seq's sequence and the start of the server when the bucket was leased: after a
  -- restart of the sequence, or a failover, sequences may be given again below the mark.
  low_water_history    text collate "C" not null default '',
  constraint ${p}bucket_pk primary key (bucket),
  constraint ${p}bucket_number check (bucket between 0 and 63),
  -- Claims reckon with these for all buckets at once: one that overflows would stop them all.
  constraint ${p}bucket_numbers check (token between 0 and 4611686018427387904 and takeovers >= 0
    and singles >= 0 and next_low_water_txid <= '9223372036854775807'),
  constraint ${p}bucket_times check (isfinite(served_at)
    and (lease_until is null or isfinite(lease_until) and coalesce(isfinite(leased_at), false)))
)
-- Room on the page, so that a lease changes no index.
with (fillfactor = 30, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
insert into ${q}${p}bucket (bucket) select generate_series(0, 63);

-- Outlives its message, until the window is over.
create table ${q}${p}dedup (
  dedup_key   text collate "C" not null,
  created_at  timestamptz not null default now(),
  constraint ${p}dedup_pk primary key (dedup_key),
  constraint ${p}dedup_key_length check (char_length(dedup_key) <= 255)
);
create index ${p}dedup_age on ${q}${p}dedup (created_at);

create table ${q}${p}schema (
  version  integer not null,
  constraint ${p}schema_pk primary key (version)
);
insert into ${q}${p}schema (version) values (1);
