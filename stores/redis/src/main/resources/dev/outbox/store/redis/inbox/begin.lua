#!lua
-- Locks a message. ARGV: version, name, the lock's token, how long it lasts, the retention, the
-- fingerprint (empty: none). Returns mismatch; done with result and content type; in_progress with
-- the time that is left; or started with the number of attempts.
local name, token, fingerprint = ARGV[2], ARGV[3], ARGV[6]
local state, lockUntil, known, result, contentType = unpack(
  redis.call('HMGET', entry(name), 'state', 'until', 'fingerprint', 'result', 'contentType'))
if known and fingerprint ~= '' and known ~= fingerprint then
  return {'mismatch'}
end
local held = redis.call('PTTL', hold(name)) -- 0 in its last moment, -2 when there is none
if held ~= -2 then
  return {'in_progress', math.max(held, 1) * 1000}
end
if state == 'done' then
  return {'done', result, contentType}
end
if state == 'started' and tonumber(lockUntil) > NOW then
  return {'in_progress', tonumber(lockUntil) - NOW}
end
lockUntil = digits(NOW + ARGV[4])
redis.call('HSET', entry(name), 'state', 'started', 'token', token, 'until', lockUntil)
if fingerprint ~= '' then
  redis.call('HSET', entry(name), 'fingerprint', fingerprint)
end
redis.call('ZADD', LOCKS, lockUntil, name)
redis.call('ZREM', FAILED, name)
expiresAfter(name, ARGV[4] + ARGV[5])
return {'started', redis.call('HINCRBY', entry(name), 'attempts', 1)}
