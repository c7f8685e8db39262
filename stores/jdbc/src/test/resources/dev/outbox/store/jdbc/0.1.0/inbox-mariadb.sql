-- The collation is utf8mb4_0900_bin on MySQL and utf8mb4_nopad_bin on MariaDB.
-- Each statement commits by itself: what was interrupted is run again, and the version comes last.

-- One row a key, from its begin until its retention is over.
create table if not exists inbox_message (
  -- One longer than the limit, also below: where sql_mode is not strict, what is too long is cut off
  -- without an error, and must not look as if it fitted.
  consumer      varchar(256) not null,
  message_id    varchar(256) not null,
  -- STARTED: somebody has the lock, or had it until it ran out. FAILED: it was released.
  state         enum('STARTED', 'FAILED', 'DONE') not null,
  attempts      integer not null,
  -- Random for each lock, so that no lock is taken for a later one of a key that was forgotten.
  token         char(36) character set ascii,
  lock_until    datetime(6),
  -- Null: is compared with nothing.
  fingerprint   varbinary(64),
  content_type  varchar(256),
  result        mediumblob,
  -- Why it was released last: for people.
  last_error    text,
  -- From when on it may be forgotten: never before lock_until.
  expires_at    datetime(6) not null,
  -- Changes when the key comes again, and means nothing: that is how an insert knows.
  met           tinyint unsigned not null default 0,
  primary key (consumer, message_id),
  -- What housekeeping deletes, and what people ask about.
  key inbox_message_expired (expires_at),
  key inbox_message_state (state, lock_until),
  constraint inbox_message_state_known check (state in ('STARTED', 'FAILED', 'DONE')),
  constraint inbox_message_lock check (state = 'DONE' or token is not null and lock_until is not null),
  constraint inbox_message_expires_late check (expires_at >= lock_until),
  constraint inbox_message_consumer_length check (char_length(consumer) <= 255),
  constraint inbox_message_message_id_length check (char_length(message_id) <= 255),
  constraint inbox_message_content_type_length check (char_length(content_type) <= 255),
  constraint inbox_message_result_size check (length(result) <= 1000000)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_nopad_bin;

-- An error where a table was there before that is not ours.
select message_id, state, token, met from inbox_message where false;

create table if not exists inbox_schema (
  version  integer not null,
  primary key (version)
) engine = InnoDB;
insert ignore into inbox_schema (version) values (1);
