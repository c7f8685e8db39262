#!lua flags=allow-oom
-- Forgets what has expired and no open transaction is about to change. ARGV: version, from which of
-- the expired on, how many are looked at. Returns how many were looked at, and how many stay.
local page = redis.call(
  'ZRANGEBYSCORE', EXPIRES, '-inf', digits(NOW), 'LIMIT', ARGV[2], ARGV[3])
local stay = 0
for _, name in ipairs(page) do
  if redis.call('EXISTS', hold(name)) == 1 then
    stay = stay + 1
  else
    redis.call('DEL', entry(name))
    for _, zset in ipairs({LOCKS, FAILED, EXPIRES}) do
      redis.call('ZREM', zset, name)
    end
  end
end
return {#page, stay}
