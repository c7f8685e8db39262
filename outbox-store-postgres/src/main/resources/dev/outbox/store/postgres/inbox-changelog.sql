--liquibase formatted sql

--changeset outbox-inbox:1
--comment: q is the schema with a dot, or nothing; p is the prefix of all names

-- One row a key, from its begin until its retention is over.
create table ${q}${p}message (
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
  constraint ${p}message_pk primary key (consumer, message_id),
  constraint ${p}message_state_known check (state in ('STARTED', 'FAILED', 'DONE')),
  constraint ${p}message_lock check (state = 'DONE' or token is not null and lock_until is not null),
  constraint ${p}message_expires_late check (expires_at >= lock_until),
  constraint ${p}message_result_size check (octet_length(result) <= 1000000)
);

-- What housekeeping deletes.
create index ${p}message_expired on ${q}${p}message (expires_at);
-- What people ask about is little beside what is done.
create index ${p}message_open on ${q}${p}message (state, lock_until) where state <> 'DONE';

create table ${q}${p}schema (
  version  integer not null,
  constraint ${p}schema_pk primary key (version)
);
insert into ${q}${p}schema (version) values (1);
