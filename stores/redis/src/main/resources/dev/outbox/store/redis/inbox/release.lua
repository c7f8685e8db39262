#!lua flags=allow-oom
-- Gives a lock back. ARGV: version, name, the lock's token, the retention, the error. Returns 1; 0:
-- it is not this lock's any more; -1: an open transaction is changing it.
local name = ARGV[2]
if redis.call('EXISTS', hold(name)) == 1 then
  return -1
end
local found = redis.call('HMGET', entry(name), 'state', 'token')
if found[2] ~= ARGV[3] or found[1] == 'done' then
  return 0
end
if found[1] == 'started' then
  redis.call('HSET', entry(name), 'state', 'failed', 'error', ARGV[5])
  redis.call('ZREM', LOCKS, name)
  redis.call('ZADD', FAILED, digits(NOW), name)
  expiresAfter(name, ARGV[4])
end
return 1
