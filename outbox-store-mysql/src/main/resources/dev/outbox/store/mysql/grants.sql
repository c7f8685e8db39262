-- What the users (or roles) of producers and of relays need. Run it after the tables, as a user who
-- may grant, with the tables' database selected. The names stand for any host: 'name'@'%'.

-- A producer may append, and nothing else: it reads, changes and deletes no message.
-- seq, bucket and the rest get their defaults: a producer that could set them could break the order.
grant insert (id, aggregate_type, aggregate_id, event_type, partition_key, payload, content_type,
  headers, dedup_key, correlation_id, status, available_at, expires_at, max_attempts)
  on ${q}${p}message to ${producer};
grant select, insert, update on ${q}${p}dedup to ${producer};
grant select on ${q}${p}schema to ${producer};

-- A relay claims, settles and tidies up. It makes and alters no table.
grant select, update, delete on ${q}${p}message to ${relay};
grant select, insert, update, delete on ${q}${p}blocked_key to ${relay};
grant select, insert, update on ${q}${p}bucket to ${relay};
grant select, update, delete on ${q}${p}dedup to ${relay};
-- To read, and for who operates it to pause and resume.
grant select, insert, delete on ${q}${p}pause to ${relay};
grant select on ${q}${p}schema to ${relay};
