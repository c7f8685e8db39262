-- What the roles of producers and of relays need. Run it as the tables' owner, after the tables.

-- A producer may append, and nothing else: it reads, changes and deletes no message. (T-SQL has no
-- right to insert into some columns only.)
grant insert on ${q}${p}message to ${producer};
grant select, insert, update on ${q}${p}dedup to ${producer};
grant select on ${q}${p}schema to ${producer};

-- A relay claims, settles and tidies up. It makes and alters no table.
grant select, update, delete on ${q}${p}message to ${relay};
grant select, insert, update, delete on ${q}${p}blocked_key to ${relay};
grant select, insert, update on ${q}${p}bucket to ${relay};
grant select, delete on ${q}${p}dedup to ${relay};
-- To read, and for who operates it to pause and resume.
grant select, insert, delete on ${q}${p}pause to ${relay};
grant select on ${q}${p}schema to ${relay};
