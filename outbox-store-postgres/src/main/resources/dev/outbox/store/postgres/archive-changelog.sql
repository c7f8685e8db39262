--liquibase formatted sql

--changeset outbox-archive:1
--comment: q is the schema with a dot, or nothing; p is the prefix of all names

-- What has left the outbox. Without an index, because each would cost every message: who looks for
-- something names the days. No payload and no headers: only metadata is kept.
create table ${q}${p}message (
  archived_at     timestamptz not null,
  outcome         text collate "C" not null,
  -- What the broker said, as orders-3@1742.
  answer          text collate "C",
  seq             bigint not null,
  id              uuid not null,
  aggregate_type  varchar(255) collate "C" not null,
  aggregate_id    varchar(255) collate "C" not null,
  event_type      varchar(255) collate "C" not null,
  partition_key   varchar(255) collate "C",
  payload         bytea,
  content_type    varchar(255) collate "C" not null,
  headers         json,
  dedup_key       varchar(255) collate "C",
  correlation_id  varchar(255) collate "C",
  created_at      timestamptz not null,
  available_at    timestamptz,
  max_attempts    integer,
  attempts        integer not null,
  last_error      text
) partition by range (archived_at);

-- For days that nobody has made a partition for, so that no settle fails: when housekeeping has not
-- run for days.
create table ${q}${p}message_rest partition of ${q}${p}message default;
-- Rows are deleted here, which a publication of all tables allows only with this.
alter table ${q}${p}message_rest replica identity full;

-- Who decided about messages by hand.
create table ${q}${p}audit (
  id          bigint generated always as identity,
  noted_at    timestamptz not null default statement_timestamp(),
  action      text collate "C" not null,
  who         text collate "C" not null,
  -- As whom that one was connected.
  db_user     text collate "C" not null default session_user,
  reason      text,
  seq         bigint not null,
  message_id  text collate "C" not null,
  constraint ${p}audit_pk primary key (id),
  constraint ${p}audit_action_known check (action in ('REQUEUED', 'DISCARDED', 'REPLAYED'))
);
create index ${p}audit_time on ${q}${p}audit (noted_at);

create table ${q}${p}schema (
  version  integer not null,
  constraint ${p}schema_pk primary key (version)
);
insert into ${q}${p}schema (version) values (1);

--changeset outbox-archive:2 splitStatements:false
--comment: a relay may make and alter no table, so this does it for it, with the rights of the tables' owner

-- Makes the partitions of today and the next days, and drops those of days that are over for longer
-- than keep_days. A day is one of UTC. Any number may call it at once, and all but one do nothing.
-- False: somebody else does it, or a day could not be dropped yet.
create function ${q}${p}keep(keep_days integer) returns boolean
language plpgsql security definer
set search_path from current
-- What a drop waits for, all others wait for: so it does not wait for long, and the next call tries again.
set lock_timeout = '500ms'
set timezone = 'UTC'
set datestyle = 'ISO'
as $$
declare
  parent constant regclass := '${q}${p}message';
  rest constant regclass := '${q}${p}message_rest';
  today constant date := (statement_timestamp() at time zone 'UTC')::date;
  stem text;
  part text;
  on_day date;
  old_part text;
begin
  -- A table of the caller's, as a temporary one of this name, must not be worked on with other rights.
  if exists (select from pg_class c where c.oid in (parent, rest)
      and pg_get_userbyid(c.relowner) <> current_user) then
    raise exception '% is not of the owner of this function, %', parent, current_user;
  end if;
  if not pg_try_advisory_xact_lock(parent::oid::bigint) then
    return false;
  end if;
  select format('%I.%I', n.nspname, c.relname || '_') into stem
    from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = parent;
  for ahead in 0..3 loop
    on_day := today + ahead;
    part := stem || to_char(on_day, 'YYYYMMDD');
    continue when to_regclass(part) is not null;
    -- What came before its day had a partition stays where it is.
    continue when exists (select from ${q}${p}message_rest r
      where r.archived_at >= on_day::timestamptz and r.archived_at < (on_day + 1)::timestamptz);
    execute format('create table %s (like %s including all)', part, parent);
    -- Unlike "partition of", attaching waits for no settle, and none waits for it.
    execute format('alter table %s attach partition %s for values from (%L) to (%L)',
      parent, part, on_day::timestamptz, (on_day + 1)::timestamptz);
  end loop;
  for old_part in
    select i.inhrelid::regclass::text
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = parent
      and case when c.relname ~ '_[0-9]{8}$'
        then to_date(right(c.relname, 8), 'YYYYMMDD') < today - keep_days else false end
    order by 1
  loop
    begin
      execute format('drop table %s', old_part);
    exception when lock_not_available then
      return false;
    end;
  end loop;
  delete from ${q}${p}message_rest r where r.archived_at < (today - keep_days)::timestamptz;
  return true;
end
$$;

--changeset outbox-archive:3
--comment: the first days, and nobody calls it who was not told to

revoke all on function ${q}${p}keep(integer) from public;
select ${q}${p}keep(36500);
