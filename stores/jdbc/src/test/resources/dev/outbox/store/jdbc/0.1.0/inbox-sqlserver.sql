-- Text is nvarchar of twice 255 units, and the checks count characters, as in the outbox's tables.

-- One row a key, from its begin until its retention is over.
create table inbox_message (
  -- The key is compared by its hash: T-SQL says that 'a' = 'a ', and the two are too long for an index.
  key_hash      as convert(varbinary(32), hashbytes('SHA2_256', hashbytes('SHA2_256', convert(varbinary(1020), consumer)) + hashbytes('SHA2_256', convert(varbinary(1020), message_id)))) persisted not null,
  consumer      nvarchar(510) collate Latin1_General_100_BIN2 not null,
  message_id    nvarchar(510) collate Latin1_General_100_BIN2 not null,
  -- STARTED: somebody has the lock, or had it until it ran out. FAILED: it was released.
  state         nvarchar(7) collate Latin1_General_100_BIN2 not null,
  attempts      int not null,
  -- Random for each lock, so that no lock is taken for a later one of a key that was forgotten. As
  -- text, which comes back as it was written.
  token         nvarchar(36) collate Latin1_General_100_BIN2 null,
  lock_until    datetime2(6) null,
  -- Null: is compared with nothing.
  fingerprint   varbinary(64) null,
  content_type  nvarchar(510) collate Latin1_General_100_BIN2 null,
  result        varbinary(max) null,
  -- Why it was released last: for people.
  last_error    nvarchar(4000) collate Latin1_General_100_BIN2 null,
  -- From when on it may be forgotten: never before lock_until.
  expires_at    datetime2(6) not null,
  -- A key that is there is not inserted again, which is a warning and no error, so the transaction
  -- goes on. Clustered, and it must stay so: for any other unique index ignore_dup_key makes the
  -- server look for the keys first, under range locks, and other keys wait for each other.
  constraint inbox_message_pk primary key clustered (key_hash) with (ignore_dup_key = on, allow_page_locks = off),
  constraint inbox_message_state_known check (state in (N'STARTED', N'FAILED', N'DONE')),
  constraint inbox_message_lock check (state = N'DONE' or token is not null and lock_until is not null),
  constraint inbox_message_expires_late check (expires_at >= lock_until),
  constraint inbox_message_consumer_length check (len(consumer collate Latin1_General_100_CI_AS_SC + N'.') <= 256),
  constraint inbox_message_message_id_length check (len(message_id collate Latin1_General_100_CI_AS_SC + N'.') <= 256),
  constraint inbox_message_content_type_length check (len(content_type collate Latin1_General_100_CI_AS_SC + N'.') <= 256),
  constraint inbox_message_result_size check (datalength(result) <= 1000000)
);
-- What housekeeping deletes, and what people ask about.
create index inbox_message_expired on inbox_message (expires_at) with (allow_page_locks = off);
create index inbox_message_started on inbox_message (lock_until) where state = N'STARTED' with (allow_page_locks = off);
create index inbox_message_failed on inbox_message (expires_at) where state = N'FAILED' with (allow_page_locks = off);
-- One large statement must not lock out everybody.
alter table inbox_message set (lock_escalation = disable);

create table inbox_schema (
  version  int not null
);
insert into inbox_schema (version) values (1);
