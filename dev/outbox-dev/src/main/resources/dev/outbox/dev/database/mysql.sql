Statements for MySQL and MariaDB, by name. ${s} is a schema, ${q} stands before a
table of a schema, %s for what the program fills in.

--: enter
use ${s}

--: grant
-- What one makes begins so. The driver knows where this user is, not whom the server took it for.
select concat('grant all on `outbox\\_%`.* to ''', replace(current_user(), '@', '''@'''), '''')

--: sessions
-- They have no name, and are found by their database.
select id from information_schema.processlist
where db like ? escape '!' and id <> connection_id()

--: end session
kill %s

--: drop schema
drop schema if exists ${s}

--: settings
innodb_flush_log_at_trx_commit, innodb_doublewrite, log_bin, sync_binlog, innodb_buffer_pool_size, performance_schema

--: setting
select @@global.%s

--: business table
create table ${q}business (
  id         bigint not null auto_increment primary key,
  customer   varchar(255) not null,
  amount     bigint not null,
  placed_at  datetime(6) not null default (utc_timestamp(6))
) engine = InnoDB

--: limit table
create table ${q}like_message (
  seq             bigint not null auto_increment primary key,
  status          enum('PENDING', 'SCHEDULED', 'BLOCKED', 'DEAD') not null default 'PENDING',
  id              char(36) character set ascii not null default (uuid()),
  aggregate_type  varchar(256) not null,
  aggregate_id    varchar(256) not null,
  event_type      varchar(256) not null,
  partition_key   varchar(256),
  payload         mediumblob not null,
  content_type    varchar(256) not null default 'application/json',
  headers         mediumtext not null default ('[]'),
  dedup_key       varchar(256),
  correlation_id  varchar(256),
  created_at      datetime(6) not null default (utc_timestamp(6)),
  available_at    datetime(6),
  max_attempts    integer,
  attempts        integer not null default 0,
  last_error      text,
  last_failed_at  datetime(6)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_bin

--: limit row
(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

--: limit remove
delete from ${q}like_message where seq in (%s)

--: tidy
analyze table ${q}%s

--: snapshot
set transaction isolation level repeatable read;
start transaction with consistent snapshot, read only

--: writes
select if(@@global.performance_schema, coalesce(max(count_insert + count_update + count_delete), 0), -1)
from performance_schema.table_io_waits_summary_by_table
where object_schema = '${s}' and object_name = '%s'

--: torture lock key
select 1 from ${q}torture_key where name = ? for update

--: torture read key
select last from ${q}torture_key where name = ? for update

--: torture slow insert
insert into outbox_message (id, aggregate_type, aggregate_id, event_type, payload, status)
values (?, ?, ?, ?, ?, if(sleep(?) = 0, 'PENDING', 'PENDING'))

--: torture wrong
select concat('BLOCKED, but nobody finds it: ', m.seq, ' of ', m.aggregate_id)
from outbox_message m left join outbox_blocked_key k
  on k.bucket = m.bucket and k.`key` = coalesce(m.partition_key, concat(m.aggregate_type, '/', m.aggregate_id))
where m.status = 'BLOCKED' and (k.bucket is null or m.seq < k.low_seq);

select concat('halted, but not by a dead letter: ', k.halted_by) from outbox_blocked_key k
where k.halted_by is not null and not exists (select 1 from outbox_message m
  where m.seq = k.halted_by and m.status = 'DEAD')
