#!lua flags=allow-oom
-- Prolongs leases. ARGV: version, the claim's token, the lease, the keys. Returns for each key
-- whether it is still held.
local held = {}
for i = 4, #ARGV do
  local key = ARGV[i]
  if redis.call('HGET', state(key), 'holder') == ARGV[2] then
    redis.call('ZREM', READY, key)
    redis.call('ZREM', RETRIES, key)
    redis.call('ZADD', LEASES, digits(NOW + ARGV[3]), key)
    redis.call('HSET', state(key), 'lease', ARGV[3])
    held[#held + 1] = 1
  else
    held[#held + 1] = 0
  end
end
return held
