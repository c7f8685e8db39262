#!lua flags=allow-oom
-- Removes a dead letter. ARGV: version, sequence. Returns whether there was one.
local seq = ARGV[2]
if redis.call('ZREM', DEAD, seq) == 0 then
  return 0
end
local key = redis.call('HGET', message(seq), 'key')
if key then -- else somebody has removed the message
  unhalt(key, seq)
  placeUnlessLeased(key)
end
redis.call('DEL', message(seq))
return 1
