Statements for PostgreSQL, by name. ${s} is a schema, ${q} stands before a
table of a schema, %s for what the program fills in.

--: grant
select format('grant create on database "%s" to "%s"', current_database(), session_user)

--: sessions
select pid from pg_stat_activity
where application_name like ? escape '!' and pid <> pg_backend_pid()

--: end session
select pg_terminate_backend(%s)

--: drop schema
drop schema if exists ${s} cascade

--: settings
fsync, synchronous_commit, full_page_writes, shared_buffers, max_wal_size, autovacuum

--: setting
select current_setting('%s')

--: business table
create table ${q}business (
  id         bigint generated always as identity primary key,
  customer   text not null,
  amount     bigint not null,
  placed_at  timestamptz not null default now()
)

--: limit table
create table ${q}like_message (
  seq             bigint generated always as identity primary key,
  status          text not null default 'PENDING',
  id              uuid not null default gen_random_uuid(),
  aggregate_type  text not null,
  aggregate_id    text not null,
  event_type      text not null,
  partition_key   text,
  payload         bytea not null,
  content_type    text not null default 'application/json',
  headers         json not null default '[]',
  dedup_key       text,
  correlation_id  text,
  created_at      timestamptz not null default now(),
  available_at    timestamptz,
  max_attempts    integer,
  attempts        integer not null default 0,
  last_error      text,
  last_failed_at  timestamptz
)
-- As the outbox's own table: a fixed number of rows, so that vacuum keeps up.
with (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0,
  autovacuum_vacuum_insert_threshold = 100000,
  autovacuum_analyze_scale_factor = 0,
  autovacuum_analyze_threshold = 50000
)

--: limit row
(?, ?, ?, ?, ?, ?, ?, ?::json, ?, ?, ?, ?::timestamptz)

--: limit remove
delete from ${q}like_message where seq = any(?)

--: tidy
vacuum (analyze) ${q}%s

--: checkpoint
checkpoint

--: snapshot
set transaction isolation level repeatable read, read only;
select 1

--: writes
-- With those of its partitions: an archive has one for each day.
select coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0) from pg_stat_user_tables
where schemaname = '${s}' and relname ~ '^%s(_[0-9]{8}|_rest)?$'

--: log bytes
select pg_current_wal_insert_lsn() - '0/0'::pg_lsn

--: torture lock key
-- Draws no transaction id: that comes with the first insert, so that ids and sequences are drawn in
-- different orders.
select pg_advisory_xact_lock(hashtextextended(?, 0))

--: torture read key
select last from ${q}torture_key where name = ?

--: torture slow insert
insert into outbox_message (id, aggregate_type, aggregate_id, event_type, payload, status)
values (?::uuid, ?, ?, ?, ?, 'PENDING' || pg_sleep(?)::text)

--: torture commit later
set local synchronous_commit = off

--: torture wrong
select 'BLOCKED, but nobody finds it: ' || m.seq || ' of ' || m.aggregate_id
    || ', its key starts at ' || coalesce(k.low_seq::text, 'nothing')
from outbox_message m left join outbox_blocked_key k
  on k.bucket = m.bucket and k.key = coalesce(m.partition_key, m.aggregate_type || '/' || m.aggregate_id)
where m.status = 'BLOCKED' and (k.key is null or m.seq < k.low_seq);

select 'halted, but not by a dead letter: ' || k::text from outbox_blocked_key k
where k.halted_by is not null and not exists (select from outbox_message m
  where m.seq = k.halted_by and m.status = 'DEAD');

select 'PENDING, but below the mark: ' || m.seq || ' in ' || b::text
from outbox_message m join outbox_bucket b on b.bucket = m.bucket
where m.status = 'PENDING' and (m.seq < b.low_water
  or m.seq < b.low_water_ahead and b.ahead_of is not null and not exists (
    select from unnest(b.ahead_of) x
    where pg_visible_in_snapshot(x::text::xid8, pg_current_snapshot())))
