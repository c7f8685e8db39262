#!lua flags=allow-oom
-- Prolongs a lock. ARGV: version, name, the lock's token, how long it lasts, the retention. Returns
-- 1; 0: it is not this lock's any more; -1: an open transaction is changing it.
local name = ARGV[2]
if redis.call('EXISTS', hold(name)) == 1 then
  return -1
end
local found = redis.call('HMGET', entry(name), 'state', 'token')
if found[1] ~= 'started' or found[2] ~= ARGV[3] then
  return 0
end
redis.call('HSET', entry(name), 'until', digits(NOW + ARGV[4]))
redis.call('ZADD', LOCKS, digits(NOW + ARGV[4]), name)
expiresAfter(name, ARGV[4] + ARGV[5])
return 1
