
-- What a relay needs more where there is an archive. It deletes what is older than the retention.
grant select, insert, delete on ${q}${p}archive_message to ${relay};
grant select, insert on ${q}${p}archive_audit to ${relay};
grant select on ${q}${p}archive_schema to ${relay};
