-- What has left the outbox. No payload and no headers: only metadata is kept.
create table outbox_archive_message (
  -- UTC.
  archived_at     datetime2(6) not null,
  seq             bigint not null,
  outcome         nvarchar(16) collate Latin1_General_100_BIN2 not null,
  -- What the broker said, as orders-3@1742.
  answer          nvarchar(4000) collate Latin1_General_100_BIN2 null,
  id              uniqueidentifier not null,
  aggregate_type  nvarchar(510) collate Latin1_General_100_BIN2 not null,
  aggregate_id    nvarchar(510) collate Latin1_General_100_BIN2 not null,
  event_type      nvarchar(510) collate Latin1_General_100_BIN2 not null,
  partition_key   nvarchar(510) collate Latin1_General_100_BIN2 null,
  payload         varbinary(max) null,
  content_type    nvarchar(510) collate Latin1_General_100_BIN2 not null,
  headers         nvarchar(max) collate Latin1_General_100_BIN2 null,
  dedup_key       nvarchar(510) collate Latin1_General_100_BIN2 null,
  correlation_id  nvarchar(510) collate Latin1_General_100_BIN2 null,
  created_at      datetime2(6) not null,
  available_at    datetime2(6) null,
  expires_at      datetime2(6) null,
  max_attempts    int null,
  attempts        int not null,
  last_error      nvarchar(4000) collate Latin1_General_100_BIN2 null,
  -- The order in which rows come and are purged. No other index, because each would cost every message.
  constraint outbox_archive_message_pk primary key clustered (archived_at, seq) with (allow_page_locks = off)
);
alter table outbox_archive_message set (lock_escalation = disable);

-- Who decided about messages by hand.
create table outbox_archive_audit (
  id          bigint identity(1, 1) not null,
  noted_at    datetime2(6) not null constraint outbox_archive_audit_noted_at default sysutcdatetime(),
  action      nvarchar(16) collate Latin1_General_100_BIN2 not null,
  who         nvarchar(510) collate Latin1_General_100_BIN2 not null,
  -- As whom that one was connected.
  db_user     nvarchar(256) collate Latin1_General_100_BIN2 not null constraint outbox_archive_audit_db_user default original_login(),
  reason      nvarchar(4000) collate Latin1_General_100_BIN2 null,
  seq         bigint not null,
  -- The message's; of a pause the aggregate type, or empty.
  message_id  nvarchar(510) collate Latin1_General_100_BIN2 not null,
  constraint outbox_archive_audit_pk primary key clustered (noted_at, id) with (allow_page_locks = off),
  constraint outbox_archive_audit_action_known check (action in (N'REQUEUED', N'DISCARDED', N'REPLAYED', N'PAUSED', N'RESUMED'))
);
alter table outbox_archive_audit set (lock_escalation = disable);

create table outbox_archive_schema (
  version  int not null
);
insert into outbox_archive_schema (version) values (1);
