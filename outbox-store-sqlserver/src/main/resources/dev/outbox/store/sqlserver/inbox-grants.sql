-- What the roles of consumers and of housekeeping need. Run it as the tables' owner, after the tables.

-- A consumer records, begins and completes. It forgets nothing: what it deleted would be handled
-- again.
grant select, insert, update on ${q}${p}message to ${consumer};
grant select on ${q}${p}schema to ${consumer};

-- Housekeeping deletes what has expired, and counts.
grant select, delete on ${q}${p}message to ${housekeeper};
grant select on ${q}${p}schema to ${housekeeper};
