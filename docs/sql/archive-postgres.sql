-- What has left the outbox. Without an index, because each would cost every message: who looks for
-- something names the days. No payload and no headers: only metadata is kept.
create table outbox_archive_message (
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
  expires_at      timestamptz,
  max_attempts    integer,
  attempts        integer not null,
  last_error      text
) partition by range (archived_at);

-- For days that nobody has made a partition for, so that no settle fails: when housekeeping has not
-- run for days.
create table outbox_archive_message_rest partition of outbox_archive_message default;
-- Rows are deleted here, which a publication of all tables allows only with this; the second is for
-- one that publishes them as the whole table's.
alter table outbox_archive_message_rest replica identity full;
alter table outbox_archive_message replica identity full;

-- Who decided about messages by hand.
create table outbox_archive_audit (
  id          bigint generated always as identity,
  noted_at    timestamptz not null default statement_timestamp(),
  action      text collate "C" not null,
  who         text collate "C" not null,
  -- As whom that one was connected.
  db_user     text collate "C" not null default session_user,
  reason      text,
  seq         bigint not null,
  -- The message's; of a pause the aggregate type, or empty.
  message_id  text collate "C" not null,
  constraint outbox_archive_audit_pk primary key (id),
  constraint outbox_archive_audit_action_known check (action in ('REQUEUED', 'DISCARDED', 'REPLAYED', 'PAUSED', 'RESUMED'))
);
create index outbox_archive_audit_time on outbox_archive_audit (noted_at);

-- Keeps the archive with the rights of the tables' owner, because a relay may make and alter no
-- table. Does one small piece of work, to be committed by itself, and says whether there may be more:
-- makes the partition for the rest where somebody dropped it, and those of today and three days more;
-- deletes from the rest what is too old; drops one day that is too old. Any number may call it at
-- once, and all but one do nothing.
-- The name of nothing here is looked for where the caller likes: what is not in pg_catalog comes as
-- an oid or with its schema.
create function outbox_archive_keep_in(archive regclass, keep_days integer) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
-- What this waits for, all others wait for: so it does not wait for long, and the next round tries again.
set lock_timeout = '500ms'
set timezone = 'UTC'
set datestyle = 'ISO'
as $$
declare
  today constant date := (statement_timestamp() at time zone 'UTC')::date;
  -- Of a day that is over for so long no row is younger.
  oldest date;
  in_schema text;
  table_name text;
  rest regclass;
  rest_name text;
  day_name text;
  day_from timestamptz;
  day_to timestamptz;
  is_taken boolean;
  was_made boolean := false;
  deleted bigint := 0;
  old_day regclass;
begin
  if (keep_days between 1 and 36500) is not true then
    raise exception 'keep_days is %, 1 to 36500 are allowed', coalesce(keep_days::text, 'null')
      using errcode = 'invalid_parameter_value';
  end if;
  oldest := today - keep_days;
  begin
    -- Settles and finds go on beside it. An advisory lock could be held by anybody.
    execute format('lock table only %s in share update exclusive mode nowait', archive);
  exception when lock_not_available then
    return false;
  end;
  select format('%I', n.nspname), c.relname, nullif(p.partdefid, 0)::regclass
    into in_schema, table_name, rest
    from pg_partitioned_table p join pg_class c on c.oid = p.partrelid
      join pg_namespace n on n.oid = c.relnamespace
    where p.partrelid = archive;

  rest_name := format('%s.%I', in_schema, table_name || '_rest');
  if rest is null and to_regclass(rest_name) is null then
    execute format('create table %s (like %s including all)', rest_name, archive);
    execute format('alter table %s replica identity full', rest_name);
    execute format('alter table %s attach partition %s default', archive, rest_name);
    return true;
  end if;

  for ahead in 0..3 loop
    day_name := format('%s.%I', in_schema, table_name || to_char(today + ahead, '_YYYYMMDD'));
    continue when to_regclass(day_name) is not null;
    day_from := (today + ahead)::timestamptz;
    day_to := (today + ahead + 1)::timestamptz;
    begin
      -- What came before its day had a partition stays where it is.
      if rest is not null then
        execute format('select exists (select from %s r where r.archived_at >= %L and r.archived_at < %L)',
          rest, day_from, day_to) into is_taken;
        continue when is_taken;
      end if;
      execute format('create table %s (like %s including all)', day_name, archive);
      -- Unlike "partition of", attaching waits for no settle, and none waits for it.
      execute format('alter table %s attach partition %s for values from (%L) to (%L)',
        archive, day_name, day_from, day_to);
      was_made := true;
    exception when lock_not_available or check_violation then
      exit; -- somebody reads the rest, or has just written there
    end;
  end loop;
  if was_made then
    return true;
  end if;

  if rest is not null then
    execute format('delete from %1$s where ctid = any (array(
      select r.ctid from %1$s r where r.archived_at < %2$L limit 10000))', rest, oldest::timestamptz);
    get diagnostics deleted = row_count;
  end if;
  if deleted > 0 then
    return true;
  end if;

  perform from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = archive and c.relname ~ '_[0-9]{8}$'
      and right(c.relname, 8) < to_char(oldest, 'YYYYMMDD');
  if not found then
    return false;
  end if;
  begin
    -- In the order of all others: a settle or a find locks this first. A drop locks the rest, too.
    execute format('lock table only %s in access exclusive mode', archive);
    if rest is not null then
      execute format('lock table %s in access exclusive mode nowait', rest);
    end if;
  exception when lock_not_available then
    return false;
  end;
  for old_day in
    select c.oid::regclass from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = archive and c.relname ~ '_[0-9]{8}$'
        and right(c.relname, 8) < to_char(oldest, 'YYYYMMDD')
      order by c.relname
  loop
    begin
      execute format('lock table %s in access exclusive mode nowait', old_day);
      execute format('drop table %s', old_day);
      return true;
    exception
      when lock_not_available then
        continue; -- somebody reads it: the next one
      when others then
        raise warning '% is not dropped: %', old_day, sqlerrm; -- as when a view is made of it
    end;
  end loop;
  return false;
end
$$;

-- What a relay calls. Its body is bound to the table and the function above when it is made, so no
-- search path counts here, and a schema may be renamed. What the caller chooses is how long is kept:
-- at least all of yesterday and today.
create function outbox_archive_keep(keep_days integer) returns boolean
language sql security definer
set search_path = pg_catalog, pg_temp
return outbox_archive_keep_in('outbox_archive_message'::regclass, keep_days);

-- Nobody calls it who was not told to, and nobody else has it work on another table.
revoke all on function outbox_archive_keep_in(regclass, integer) from public;
revoke all on function outbox_archive_keep(integer) from public;
-- The first days.
select outbox_archive_keep(36500);

-- Last, because who finds a version takes the rest for made.
create table outbox_archive_schema (
  version  integer not null,
  constraint outbox_archive_schema_pk primary key (version)
);
insert into outbox_archive_schema (version) values (1);
