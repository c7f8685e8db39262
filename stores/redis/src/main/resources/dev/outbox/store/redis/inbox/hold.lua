#!lua
-- Holds an entry for an open transaction that is about to make it done. ARGV: version, name, the
-- transaction's token, for how many ms, the token of the lock that completes it (empty: it is
-- recorded as the first time). Returns held: from now on nobody else changes it; busy: another
-- transaction holds it; done; lost: it is not this lock's any more; in_progress with the time left.
local name, lock = ARGV[2], ARGV[5]
local holder = redis.call('GET', hold(name))
if holder and holder ~= ARGV[3] then
  return {'busy'}
end
local state, token, lockUntil =
  unpack(redis.call('HMGET', entry(name), 'state', 'token', 'until'))
if lock ~= '' and (token ~= lock or state == 'failed') then
  return {'lost'}
end
if state == 'done' then
  return {'done'}
end
if lock == '' and state == 'started' and tonumber(lockUntil) > NOW then
  return {'in_progress', tonumber(lockUntil) - NOW}
end
redis.call('SET', hold(name), ARGV[3], 'PX', ARGV[4])
return {'held'}
