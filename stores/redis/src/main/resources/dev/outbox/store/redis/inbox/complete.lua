#!lua flags=allow-oom
-- Stores a result. ARGV: version, name, the lock's token, the token of the transaction that holds the
-- entry (empty: none), the retention, the result, its content type (empty: none). Returns 1; 0: it
-- is not this lock's any more; -1: another open transaction is changing it.
local name = ARGV[2]
local holder = redis.call('GET', hold(name))
if holder and holder ~= ARGV[4] then
  return -1
end
redis.call('DEL', hold(name))
local found = redis.call('HMGET', entry(name), 'state', 'token')
if found[2] ~= ARGV[3] or found[1] == 'failed' then
  return 0
end
if found[1] == 'started' then
  redis.call('HSET', entry(name), 'state', 'done', 'result', ARGV[6])
  if ARGV[7] ~= '' then
    redis.call('HSET', entry(name), 'contentType', ARGV[7])
  end
  redis.call('ZREM', LOCKS, name)
  expiresAfter(name, ARGV[5])
end
return 1
