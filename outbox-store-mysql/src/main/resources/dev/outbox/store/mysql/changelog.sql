--liquibase formatted sql

--changeset outbox:1
--comment: q is the schema with a dot, or nothing; p is the prefix of all names; collation compares every byte, trailing spaces too

-- The collation is utf8mb4_0900_bin on MySQL and utf8mb4_nopad_bin on MariaDB.
-- Each statement commits by itself: what was interrupted is run again, and the version comes last.

create table if not exists ${q}${p}message (
  -- The unit that a relay leases. Computed here, so that a producer in any language only inserts.
  -- A default and a check rather than a generated column: MariaDB has no key on one of those.
  bucket          tinyint unsigned not null default (crc32(coalesce(partition_key, concat(aggregate_type, '/', aggregate_id))) & 63),
  status          enum('PENDING', 'SCHEDULED', 'BLOCKED', 'DEAD') not null default 'PENDING',
  -- Where a claim finds it: a blocked message by its key, a delayed one by its time. Bytes, which
  -- are compared faster than text.
  place           varbinary(2048) not null default (case status when 'BLOCKED' then coalesce(partition_key, concat(aggregate_type, '/', aggregate_id))
                  when 'SCHEDULED' then coalesce(cast(available_at as char(26)), '') else '' end),
  seq             bigint not null auto_increment,
  -- One longer than the limit, also below: where sql_mode is not strict, what is too long is cut off
  -- without an error, and must not look as if it fitted.
  id              varchar(37) character set ascii not null default (uuid()),
  aggregate_type  varchar(256) not null,
  aggregate_id    varchar(256) not null,
  event_type      varchar(256) not null,
  -- Null: the aggregate's type and id are the key.
  partition_key   varchar(256),
  payload         mediumblob not null,
  content_type    varchar(256) not null default 'application/json',
  -- [["name","value"], ...] or {"name":"value", ...}; text, because the type json does not keep order and repeats.
  headers         mediumtext not null default ('[]'),
  dedup_key       varchar(256),
  correlation_id  varchar(256),
  created_at      datetime(6) not null default (utc_timestamp(6)),
  -- UTC. Null: at once.
  available_at    datetime(6),
  -- UTC. Null: never. Not published from then on.
  expires_at      datetime(6),
  -- Null: as the relay's retry policy says.
  max_attempts    integer,
  attempts        integer not null default 0,
  last_error      text,
  last_failed_at  datetime(6),
  -- So that a claim need not read a payload to know its size.
  payload_size    integer generated always as (length(payload)) stored,
  -- The rows themselves lie in this order, which is the one that a claim reads in: no other index
  -- is needed on the way of a message, and what waits is out of the way.
  primary key (bucket, status, place, seq),
  -- AUTO_INCREMENT asks for it; also finds what is not PENDING.
  key ${p}message_seq (seq),
  constraint ${p}message_bucket_computed check (bucket = (crc32(coalesce(partition_key, concat(aggregate_type, '/', aggregate_id))) & 63)),
  constraint ${p}message_place_computed check (place = case status when 'BLOCKED' then coalesce(partition_key, concat(aggregate_type, '/', aggregate_id))
    when 'SCHEDULED' then coalesce(cast(available_at as char(26)), '') else '' end),
  -- The limits of OutboxMessage, so that no row by plain SQL can break a later step. What headers
  -- hold is not looked at here: such a row is claimed as a message that cannot be decoded.
  constraint ${p}message_status_known check (status in ('PENDING', 'SCHEDULED', 'BLOCKED', 'DEAD')),
  constraint ${p}message_id_length check (char_length(id) = 36 and trim(id) <> ''),
  constraint ${p}message_aggregate_type_length check (char_length(aggregate_type) <= 255 and trim(aggregate_type) <> ''),
  constraint ${p}message_aggregate_id_length check (char_length(aggregate_id) <= 255 and trim(aggregate_id) <> ''),
  constraint ${p}message_event_type_length check (char_length(event_type) <= 255 and trim(event_type) <> ''),
  constraint ${p}message_partition_key_length check (char_length(partition_key) <= 255 and trim(partition_key) <> ''),
  constraint ${p}message_content_type_length check (char_length(content_type) <= 255 and trim(content_type) <> ''),
  constraint ${p}message_dedup_key_length check (char_length(dedup_key) <= 255 and trim(dedup_key) <> ''),
  constraint ${p}message_correlation_id_length check (char_length(correlation_id) <= 255 and trim(correlation_id) <> ''),
  constraint ${p}message_payload_size check (length(payload) <= 1000000),
  -- 16,000 bytes of headers become at most this with all escapes.
  constraint ${p}message_headers_size check (length(headers) <= 100000),
  constraint ${p}message_headers_kind check (coalesce(json_type(headers), '') in ('ARRAY', 'OBJECT')),
  constraint ${p}message_created_at_range check (created_at >= '0001-01-01' and created_at < '9999-01-01'),
  constraint ${p}message_available_at_range check (available_at >= '1970-01-01' and available_at < '9999-01-01'),
  constraint ${p}message_expires_at_range check (expires_at >= '1970-01-01' and expires_at < '9999-01-01'),
  constraint ${p}message_attempts_not_negative check (attempts >= 0),
  constraint ${p}message_max_attempts_positive check (max_attempts > 0),
  constraint ${p}message_scheduled_when check (status <> 'SCHEDULED' or available_at is not null),
  -- Where sql_mode is not strict there may be a month 0 or a 31st of February, which no driver reads.
  constraint ${p}message_created_at_real check ((dayofmonth(created_at) between 1 and dayofmonth(last_day(created_at))) is true),
  constraint ${p}message_available_at_real check (available_at is null or (dayofmonth(available_at) between 1 and dayofmonth(last_day(available_at))) is true),
  constraint ${p}message_expires_at_real check (expires_at is null or (dayofmonth(expires_at) between 1 and dayofmonth(last_day(expires_at))) is true),
  constraint ${p}message_last_failed_at_real check (last_failed_at is null or (dayofmonth(last_failed_at) between 1 and dayofmonth(last_day(last_failed_at))) is true)
-- A page of a queue is empty soon: to merge it with its neighbour when half of it has gone, as InnoDB
-- does by default, writes all that is left twice.
) engine = InnoDB default character set utf8mb4 collate ${collation} comment 'MERGE_THRESHOLD=1';

-- One row a key that waits: for its next try, or for a person.
create table if not exists ${q}${p}blocked_key (
  bucket     tinyint unsigned not null,
  `key`      varchar(512) not null,
  retry_at   datetime(6) not null,
  -- The dead letter that halts the key until someone decides about it; null: not halted.
  halted_by  bigint,
  -- No BLOCKED message of the key is below.
  low_seq    bigint not null,
  -- Without a null, because an index is not read in order where a column is null.
  due_at     datetime(6) generated always as (if(halted_by is null, retry_at, timestamp '9999-12-31 00:00:00')) stored,
  primary key (bucket, `key`),
  constraint ${p}blocked_key_bucket check (bucket <= 63),
  key ${p}blocked_key_due (bucket, due_at, `key`)
) engine = InnoDB default character set utf8mb4 collate ${collation};

create table if not exists ${q}${p}bucket (
  bucket       tinyint unsigned not null,
  -- Grows each time the bucket changes hands.
  token        bigint not null default 0,
  -- Random for each claim; null: free.
  claim_id     char(36) character set ascii,
  -- The worker's name, for people and for sharing.
  worker       varchar(255),
  leased_at    datetime(6),
  lease_until  datetime(6),
  served_at    datetime(6) not null default '1970-01-01',
  -- Leases in a row that ran out, and how many messages are still to be handed out one at a time.
  takeovers    integer not null default 0,
  singles      integer not null default 0,
  primary key (bucket),
  constraint ${p}bucket_number check (bucket <= 63),
  -- Claims reckon with these for all buckets at once: one that overflows would stop them all.
  constraint ${p}bucket_numbers check (token between 0 and 4611686018427387904 and takeovers >= 0 and singles >= 0),
  constraint ${p}bucket_served_at_real check ((dayofmonth(served_at) between 1 and dayofmonth(last_day(served_at))) is true)
) engine = InnoDB default character set utf8mb4 collate ${collation};
insert ignore into ${q}${p}bucket (bucket)
with recursive n as (select 0 as n union all select n + 1 from n where n < 63) select n from n;

-- Outlives its message, until the window is over.
create table if not exists ${q}${p}dedup (
  dedup_key    varchar(256) not null,
  created_at   datetime(6) not null default (utc_timestamp(6)),
  -- Which append brought it: that is how it knows its own from others'.
  appended_by  char(36) character set ascii,
  primary key (dedup_key),
  key ${p}dedup_age (created_at),
  constraint ${p}dedup_key_length check (char_length(dedup_key) <= 255)
) engine = InnoDB default character set utf8mb4 collate ${collation};

-- What operators have paused, until they resume it.
create table if not exists ${q}${p}pause (
  -- Empty: all messages.
  aggregate_type  varchar(256) not null,
  paused_at       datetime(6) not null default (utc_timestamp(6)),
  who             varchar(256) not null,
  reason          text,
  primary key (aggregate_type)
) engine = InnoDB default character set utf8mb4 collate ${collation};

-- An error where a table was there before that is not ours.
select m.seq, m.status, k.low_seq, b.token, d.appended_by, p.paused_at
from ${q}${p}message m, ${q}${p}blocked_key k, ${q}${p}bucket b, ${q}${p}dedup d, ${q}${p}pause p where false;

create table if not exists ${q}${p}schema (
  version  integer not null,
  primary key (version)
) engine = InnoDB;
insert ignore into ${q}${p}schema (version) values (1);
