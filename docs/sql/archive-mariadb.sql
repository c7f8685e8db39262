-- Each statement commits by itself: what was interrupted is run again, and the version comes last.

-- What has left the outbox. No payload and no headers: only metadata is kept.
create table if not exists outbox_archive_message (
  -- UTC.
  archived_at     datetime(6) not null,
  seq             bigint not null,
  outcome         varchar(16) character set ascii not null,
  -- What the broker said, as orders-3@1742.
  answer          text,
  id              varchar(37) character set ascii not null,
  aggregate_type  varchar(256) not null,
  aggregate_id    varchar(256) not null,
  event_type      varchar(256) not null,
  partition_key   varchar(256),
  payload         mediumblob,
  content_type    varchar(256) not null,
  headers         mediumtext,
  dedup_key       varchar(256),
  correlation_id  varchar(256),
  created_at      datetime(6) not null,
  available_at    datetime(6),
  expires_at      datetime(6),
  max_attempts    integer,
  attempts        integer not null,
  last_error      text,
  -- The rows lie in this order, which is the one in which they come and are purged. No other index,
  -- because each would cost every message.
  primary key (archived_at, seq)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_nopad_bin;

-- Who decided about messages by hand.
create table if not exists outbox_archive_audit (
  id          bigint not null auto_increment,
  noted_at    datetime(6) not null default (utc_timestamp(6)),
  action      varchar(16) character set ascii not null,
  who         varchar(255) not null,
  -- As whom that one was connected.
  db_user     varchar(300) not null,
  reason      text,
  seq         bigint not null,
  -- The message's; of a pause the aggregate type, or empty.
  message_id  varchar(255) not null,
  primary key (id),
  key outbox_archive_audit_time (noted_at),
  constraint outbox_archive_audit_action_known check (action in ('REQUEUED', 'DISCARDED', 'REPLAYED', 'PAUSED', 'RESUMED'))
) engine = InnoDB default character set utf8mb4 collate utf8mb4_nopad_bin;

create table if not exists outbox_archive_schema (
  version  integer not null,
  primary key (version)
) engine = InnoDB;
insert ignore into outbox_archive_schema (version) values (1);
