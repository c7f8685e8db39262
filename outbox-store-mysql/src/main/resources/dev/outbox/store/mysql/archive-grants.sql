
-- What a relay needs more where there is an archive. It deletes what is older than the retention.
-- In the audit the time and the database's user are what the database says, so it may not set them.
grant select, insert, delete on ${q}${p}archive_message to ${relay};
grant select, insert (action, who, reason, seq, message_id) on ${q}${p}archive_audit to ${relay};
grant select on ${q}${p}archive_schema to ${relay};
