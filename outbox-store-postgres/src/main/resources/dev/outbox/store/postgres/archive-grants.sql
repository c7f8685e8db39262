
-- What a relay needs more where there is an archive. It changes and deletes nothing there; old days
-- are dropped by a function of the tables' owner. In the audit the time and the database's user are
-- what the database says, so it may not set them.
grant select, insert on ${q}${p}archive_message to ${relay};
grant select, insert (action, who, reason, seq, message_id) on ${q}${p}archive_audit to ${relay};
grant select on ${q}${p}archive_schema to ${relay};
grant execute on function ${q}${p}archive_keep to ${relay};
