
-- What a relay needs more where there is an archive. It changes and deletes nothing there; old days
-- are dropped by a function of the tables' owner.
grant select, insert on ${q}${p}archive_message to ${relay};
grant select, insert on ${q}${p}archive_audit to ${relay};
grant select on ${q}${p}archive_schema to ${relay};
grant execute on function ${q}${p}archive_keep to ${relay};
