-- What the roles of producers and of relays need. Run it as the tables' owner, after the tables.

-- A producer may append, and nothing else: it reads, changes and deletes no message. It may ask
-- what was just given to a row, as an ORM does with insert … returning.
-- txid, seq and the rest get their defaults: a producer that could set them could break the order.
grant insert (id, aggregate_type, aggregate_id, event_type, partition_key, payload, content_type,
  headers, dedup_key, correlation_id, status, available_at, expires_at, max_attempts)
  on ${q}${p}message to ${producer};
grant select (id, seq) on ${q}${p}message to ${producer};
grant select, insert, update on ${q}${p}dedup to ${producer};
grant select on ${q}${p}schema to ${producer};
grant usage on schema ${schema} to ${producer};

-- A relay claims, settles and tidies up. It makes and alters no table. It deletes rows of buckets
-- to put them back at the front, after a transaction that stayed open has made the table long.
grant select, update, delete on ${q}${p}message to ${relay};
grant select, insert, update, delete on ${q}${p}blocked_key to ${relay};
grant select, insert, update, delete on ${q}${p}bucket to ${relay};
-- To set it where it lags behind the messages, as after a restore.
grant select, update on sequence ${q}${p}message_seq_seq to ${relay};
grant select, update, delete on ${q}${p}dedup to ${relay};
-- To read, and for who operates it to pause and resume.
grant select, insert, delete on ${q}${p}pause to ${relay};
grant select on ${q}${p}schema to ${relay};
grant usage on schema ${schema} to ${relay};
