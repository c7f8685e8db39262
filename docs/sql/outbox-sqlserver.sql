-- Text is nvarchar of twice 255 units, because an emoji has two; the checks count characters, which
-- LEN does under a collation with supplementary characters (_SC). It leaves trailing spaces out,
-- hence the full stop.
-- Keys are compared by their hash: T-SQL says that 'a' = 'a ', and 2,042 bytes are too long for an
-- index.
create table outbox_message (
  -- The unit that a relay leases. Computed here, so that a producer in any language only inserts.
  bucket          as (convert(int, substring(hashbytes('SHA2_256', convert(varbinary(2042), coalesce(partition_key, aggregate_type + N'/' + aggregate_id))), 1, 1)) & 63) persisted not null,
  status          nvarchar(9) collate Latin1_General_100_BIN2 not null constraint outbox_message_status default N'PENDING',
  -- Where the message stands among those of its status: BLOCKED ones with their key.
  place           as convert(varbinary(32), case when status = N'BLOCKED' then hashbytes('SHA2_256', convert(varbinary(2042), coalesce(partition_key, aggregate_type + N'/' + aggregate_id))) else 0x00 end) persisted not null,
  seq             bigint identity(1, 1) not null,
  key_hash        as convert(varbinary(32), hashbytes('SHA2_256', convert(varbinary(2042), coalesce(partition_key, aggregate_type + N'/' + aggregate_id)))),
  id              uniqueidentifier not null constraint outbox_message_id default newid(),
  aggregate_type  nvarchar(510) collate Latin1_General_100_BIN2 not null,
  aggregate_id    nvarchar(510) collate Latin1_General_100_BIN2 not null,
  event_type      nvarchar(510) collate Latin1_General_100_BIN2 not null,
  -- Null: the aggregate's type and id are the key.
  partition_key   nvarchar(510) collate Latin1_General_100_BIN2 null,
  payload         varbinary(max) not null,
  content_type    nvarchar(510) collate Latin1_General_100_BIN2 not null constraint outbox_message_content_type default N'application/json',
  -- [["name","value"], ...] or {"name":"value", ...}
  headers         nvarchar(max) collate Latin1_General_100_BIN2 not null constraint outbox_message_headers default N'[]',
  dedup_key       nvarchar(510) collate Latin1_General_100_BIN2 null,
  correlation_id  nvarchar(510) collate Latin1_General_100_BIN2 null,
  created_at      datetime2(6) not null constraint outbox_message_created_at default sysutcdatetime(),
  -- In UTC; null: at once.
  available_at    datetime2(6) null,
  -- In UTC; null: never. Not published from then on.
  expires_at      datetime2(6) null,
  -- Null: as the relay's retry policy says.
  max_attempts    int null,
  attempts        int not null constraint outbox_message_attempts default 0,
  last_error      nvarchar(4000) collate Latin1_General_100_BIN2 null,
  last_failed_at  datetime2(6) null,
  -- In the order in which a claim reads, so that one tree serves it and a message is written twice:
  -- inserted and deleted. Rows are locked one by one: READPAST does not skip a locked page.
  constraint outbox_message_pk primary key clustered (bucket, status, place, seq) with (allow_page_locks = off),
  -- The limits of OutboxMessage, so that no row by plain SQL can break a later step. What headers
  -- hold is not looked at here: such a row is claimed as a message that cannot be decoded.
  constraint outbox_message_status_known check (status in (N'PENDING', N'SCHEDULED', N'BLOCKED', N'DEAD')),
  constraint outbox_message_aggregate_type_length check (len(aggregate_type collate Latin1_General_100_CI_AS_SC + N'.') <= 256 and ltrim(aggregate_type) <> N''),
  constraint outbox_message_aggregate_id_length check (len(aggregate_id collate Latin1_General_100_CI_AS_SC + N'.') <= 256 and ltrim(aggregate_id) <> N''),
  constraint outbox_message_event_type_length check (len(event_type collate Latin1_General_100_CI_AS_SC + N'.') <= 256 and ltrim(event_type) <> N''),
  constraint outbox_message_partition_key_length check (len(partition_key collate Latin1_General_100_CI_AS_SC + N'.') <= 256 and ltrim(partition_key) <> N''),
  constraint outbox_message_content_type_length check (len(content_type collate Latin1_General_100_CI_AS_SC + N'.') <= 256 and ltrim(content_type) <> N''),
  constraint outbox_message_dedup_key_length check (len(dedup_key collate Latin1_General_100_CI_AS_SC + N'.') <= 256 and ltrim(dedup_key) <> N''),
  constraint outbox_message_correlation_id_length check (len(correlation_id collate Latin1_General_100_CI_AS_SC + N'.') <= 256 and ltrim(correlation_id) <> N''),
  constraint outbox_message_payload_size check (datalength(payload) <= 1000000),
  -- 16,000 bytes of headers become at most 100,000 characters with all escapes.
  constraint outbox_message_headers_size check (datalength(headers) <= 200000),
  constraint outbox_message_available_at_range check (available_at >= '1970-01-01T00:00:00' and available_at < '9999-01-01T00:00:00'),
  constraint outbox_message_expires_at_range check (expires_at >= '1970-01-01T00:00:00' and expires_at < '9999-01-01T00:00:00'),
  constraint outbox_message_scheduled_when check (status <> N'SCHEDULED' or available_at is not null),
  constraint outbox_message_attempts_not_negative check (attempts >= 0),
  constraint outbox_message_max_attempts_positive check (max_attempts > 0)
);
-- What others than the claim of PENDING messages look up; a PENDING message is in none of them.
create index outbox_message_scheduled on outbox_message (bucket, available_at, seq) where status = N'SCHEDULED' with (allow_page_locks = off);
create index outbox_message_blocked on outbox_message (seq) where status = N'BLOCKED' with (allow_page_locks = off);
create index outbox_message_dead on outbox_message (seq) where status = N'DEAD' with (allow_page_locks = off);
-- One large statement must not lock out everybody.
alter table outbox_message set (lock_escalation = disable);

-- One row a key that waits: for its next try, or for a person.
create table outbox_blocked_key (
  bucket       int not null,
  key_hash     as convert(varbinary(32), hashbytes('SHA2_256', convert(varbinary(2042), message_key))) persisted not null,
  message_key  nvarchar(1021) collate Latin1_General_100_BIN2 not null,
  retry_at     datetime2(6) not null,
  -- The dead letter that halts the key until someone decides about it; null: not halted.
  halted_by    bigint null,
  -- No BLOCKED message of the key is below.
  low_seq      bigint not null,
  constraint outbox_blocked_key_pk primary key clustered (bucket, key_hash) with (allow_page_locks = off)
);
create index outbox_blocked_key_due on outbox_blocked_key (bucket, halted_by, retry_at) with (allow_page_locks = off);
alter table outbox_blocked_key set (lock_escalation = disable);

create table outbox_bucket (
  bucket       int not null,
  -- Grows each time the bucket changes hands.
  token        bigint not null constraint outbox_bucket_token default 0,
  -- Random for each claim; null: free.
  claim_id     uniqueidentifier null,
  -- The worker's name, for people and for sharing.
  worker       nvarchar(255) collate Latin1_General_100_BIN2 null,
  leased_at    datetime2(6) null,
  lease_until  datetime2(6) null,
  served_at    datetime2(6) not null constraint outbox_bucket_served_at default '1970-01-01T00:00:00',
  -- Grows with each settle: a row that is changed is locked until the transaction's end.
  settles      bigint not null constraint outbox_bucket_settles default 0,
  -- Leases in a row that ran out, and how many messages are still to be handed out one at a time.
  takeovers    int not null constraint outbox_bucket_takeovers default 0,
  singles      int not null constraint outbox_bucket_singles default 0,
  constraint outbox_bucket_pk primary key clustered (bucket) with (allow_page_locks = off),
  constraint outbox_bucket_number check (bucket between 0 and 63),
  -- Claims reckon with these for all buckets at once: one that overflows would stop them all.
  constraint outbox_bucket_numbers check (token between 0 and 4611686018427387904 and takeovers >= 0 and singles >= 0)
);
alter table outbox_bucket set (lock_escalation = disable);
insert into outbox_bucket (bucket) values
  (0), (1), (2), (3), (4), (5), (6), (7), (8), (9), (10), (11), (12), (13), (14), (15),
  (16), (17), (18), (19), (20), (21), (22), (23), (24), (25), (26), (27), (28), (29), (30), (31),
  (32), (33), (34), (35), (36), (37), (38), (39), (40), (41), (42), (43), (44), (45), (46), (47),
  (48), (49), (50), (51), (52), (53), (54), (55), (56), (57), (58), (59), (60), (61), (62), (63);

-- Outlives its message, until the window is over. A key that is there is not inserted again, which
-- is a warning and no error, so the transaction goes on.
create table outbox_dedup (
  dedup_hash  as convert(varbinary(32), hashbytes('SHA2_256', convert(varbinary(1020), dedup_key))) persisted not null,
  dedup_key   nvarchar(510) collate Latin1_General_100_BIN2 not null,
  created_at  datetime2(6) not null constraint outbox_dedup_created_at default sysutcdatetime(),
  -- Clustered, and it must stay so: for any other unique index ignore_dup_key makes the server look for
  -- the keys first, under range locks, and appends with other keys wait for each other and deadlock.
  constraint outbox_dedup_pk primary key clustered (dedup_hash) with (ignore_dup_key = on, allow_page_locks = off),
  constraint outbox_dedup_key_length check (len(dedup_key collate Latin1_General_100_CI_AS_SC + N'.') <= 256)
);
create index outbox_dedup_age on outbox_dedup (created_at) with (allow_page_locks = off);
alter table outbox_dedup set (lock_escalation = disable);

-- What operators have paused, until they resume it.
create table outbox_pause (
  -- Empty: all messages. With a hash as its key, because texts are compared without trailing spaces.
  type_hash       as convert(varbinary(32), hashbytes('SHA2_256', convert(varbinary(1020), aggregate_type))) persisted not null,
  aggregate_type  nvarchar(510) collate Latin1_General_100_BIN2 not null,
  paused_at       datetime2(6) not null constraint outbox_pause_paused_at default sysutcdatetime(),
  who             nvarchar(510) collate Latin1_General_100_BIN2 not null,
  reason          nvarchar(4000) collate Latin1_General_100_BIN2 null,
  constraint outbox_pause_pk primary key clustered (type_hash)
);

create table outbox_schema (
  version  int not null
);
insert into outbox_schema (version) values (1);
