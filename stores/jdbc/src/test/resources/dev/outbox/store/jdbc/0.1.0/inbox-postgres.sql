-- One row a key, from its begin until its retention is over.
create table inbox_message (
  consumer      varchar(255) collate "C" not null,
  message_id    varchar(255) collate "C" not null,
  -- STARTED: somebody has the lock, or had it until it ran out. FAILED: it was released.
  state         text collate "C" not null,
  attempts      integer not null,
  -- Random for each lock, so that no lock is taken for a later one of a key that was forgotten.
  token         uuid,
  lock_until    timestamptz,
  -- Null: is compared with nothing.
  fingerprint   bytea,
  content_type  varchar(255) collate "C",
  result        bytea,
  -- Why it was released last: for people.
  last_error    text,
  -- From when on it may be forgotten: never before lock_until.
  expires_at    timestamptz not null,
  constraint inbox_message_pk primary key (consumer, message_id),
  constraint inbox_message_state_known check (state in ('STARTED', 'FAILED', 'DONE')),
  constraint inbox_message_lock check (state = 'DONE' or token is not null and lock_until is not null),
  constraint inbox_message_expires_late check (expires_at >= lock_until),
  constraint inbox_message_result_size check (octet_length(result) <= 1000000)
);

-- What housekeeping deletes.
create index inbox_message_expired on inbox_message (expires_at);
-- What people ask about is little beside what is done.
create index inbox_message_open on inbox_message (state, lock_until) where state <> 'DONE';

create table inbox_schema (
  version  integer not null,
  constraint inbox_schema_pk primary key (version)
);
insert into inbox_schema (version) values (1);
