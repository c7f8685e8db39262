create table outbox_message (
  -- The unit that a relay leases. Computed here, so that a producer in any language only inserts.
  bucket          smallint not null generated always as
                  ((hashtextextended(coalesce(partition_key, aggregate_type || '/' || aggregate_id), 0) & 63)::smallint) stored,
  -- Stands before seq: defaults are computed in column order, so every writer has its transaction id
  -- before it draws its sequence. The low-water marks of the buckets rely on it.
  txid            xid8 not null default pg_current_xact_id(),
  seq             bigint generated always as identity (cache 1),
  status          text collate "C" not null default 'PENDING',
  id              uuid not null default gen_random_uuid(),
  aggregate_type  varchar(255) collate "C" not null,
  aggregate_id    varchar(255) collate "C" not null,
  event_type      varchar(255) collate "C" not null,
  -- Null: the aggregate's type and id are the key.
  partition_key   varchar(255) collate "C",
  payload         bytea not null,
  content_type    varchar(255) collate "C" not null default 'application/json',
  -- [["name","value"], ...] or {"name":"value", ...}; json, not jsonb, keeps order and repeats.
  headers         json not null default '[]',
  dedup_key       varchar(255) collate "C",
  correlation_id  varchar(255) collate "C",
  created_at      timestamptz not null default now(),
  -- Null: at once.
  available_at    timestamptz,
  -- Null: never. Not published from then on.
  expires_at      timestamptz,
  -- Null: as the relay's retry policy says.
  max_attempts    integer,
  attempts        integer not null default 0,
  last_error      text,
  last_failed_at  timestamptz,
  -- No generated column: a publication leaves those out, and rows could not be deleted.
  constraint outbox_message_pk primary key (seq),
  -- As few as can be, because PostgreSQL reads and compiles each of them for each statement. Texts are
  -- limited by their types, which costs next to nothing. A row that is wrong in another way is claimed
  -- as a message that cannot be decoded. What is refused here would break a step or never come to an end.
  constraint outbox_message_payload_size check (octet_length(payload) <= 1000000),
  -- 16,000 bytes of headers become at most this with all escapes.
  constraint outbox_message_headers_size check (octet_length(headers::text) <= 100000),
  constraint outbox_message_status_known check (status in ('PENDING', 'BLOCKED', 'DEAD') or status = 'SCHEDULED' and available_at is not null),
  constraint outbox_message_attempts_not_negative check (attempts >= 0),
  -- Marks begin at 0: what is below would never be read.
  constraint outbox_message_seq_positive check (seq > 0)
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
create index outbox_message_pending on outbox_message (bucket, (seq + 0)) where status = 'PENDING';
create index outbox_message_scheduled on outbox_message (bucket, available_at, seq) where status = 'SCHEDULED';
create index outbox_message_blocked on outbox_message (bucket, coalesce(partition_key, aggregate_type || '/' || aggregate_id), (seq + 0)) where status = 'BLOCKED';
create index outbox_message_dead on outbox_message ((seq + 0)) where status = 'DEAD';

-- One row a key that waits: for its next try, or for a person.
create table outbox_blocked_key (
  bucket     smallint not null,
  key        text collate "C" not null,
  retry_at   timestamptz not null,
  -- The dead letter that halts the key until someone decides about it; null: not halted.
  halted_by  bigint,
  -- No BLOCKED message of the key is below.
  low_seq    bigint not null,
  constraint outbox_blocked_key_pk primary key (bucket, key),
  constraint outbox_blocked_key_bucket check (bucket between 0 and 63),
  constraint outbox_blocked_key_retry_at check (isfinite(retry_at))
);
create index outbox_blocked_key_due on outbox_blocked_key (bucket, retry_at) where halted_by is null;
-- For counting: those few are not looked for among all that wait for a retry.
create index outbox_blocked_key_halted on outbox_blocked_key (halted_by) where halted_by is not null;

create table outbox_bucket (
  bucket               smallint not null,
  -- Grows each time the bucket changes hands.
  token                bigint not null default 0,
  -- Random for each claim; null: free.
  claim_id             uuid,
  -- The worker's name, for people and for sharing.
  worker               text,
  leased_at            timestamptz,
  lease_until          timestamptz,
  served_at            timestamptz not null default '1970-01-01 00:00:00+00',
  -- Leases in a row that ran out, and how many messages are still to be handed out one at a time.
  takeovers            integer not null default 0,
  singles              integer not null default 0,
  -- No PENDING message is below.
  low_water            bigint not null default 0,
  -- The file of seq's sequence and the start of the server when the bucket was leased: after a
  -- restart of the sequence, or a failover, sequences may be given again below the mark.
  low_water_history    text collate "C" not null default '',
  -- Nor below this one, while all transactions with these ids are open.
  low_water_ahead      bigint,
  ahead_of             bigint[],
  constraint outbox_bucket_pk primary key (bucket),
  constraint outbox_bucket_number check (bucket between 0 and 63),
  -- Claims reckon with these for all buckets at once: one that overflows would stop them all.
  constraint outbox_bucket_numbers check (token between 0 and 4611686018427387904 and takeovers >= 0
    and singles >= 0),
  constraint outbox_bucket_times check (isfinite(served_at)
    and (lease_until is null or isfinite(lease_until) and coalesce(isfinite(leased_at), false)))
)
with (
  -- Room on the page, so that a lease changes no index.
  fillfactor = 30, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500,
  -- Or else vacuum leaves the last few pages of a long table as they are, and cannot cut it.
  vacuum_index_cleanup = on
);
insert into outbox_bucket (bucket) select generate_series(0, 63);

-- Outlives its message, until the window is over.
create table outbox_dedup (
  dedup_key   varchar(255) collate "C" not null,
  created_at  timestamptz not null default now(),
  constraint outbox_dedup_pk primary key (dedup_key)
);
create index outbox_dedup_age on outbox_dedup (created_at);

-- What operators have paused, until they resume it.
create table outbox_pause (
  -- Empty: all messages.
  aggregate_type  varchar(255) collate "C" not null,
  paused_at       timestamptz not null default statement_timestamp(),
  who             text collate "C" not null,
  reason          text collate "C",
  constraint outbox_pause_pk primary key (aggregate_type)
);

create table outbox_schema (
  version  integer not null,
  constraint outbox_schema_pk primary key (version)
);
insert into outbox_schema (version) values (1);
