#!lua flags=allow-oom
-- Removes a dead letter. ARGV: version, sequence. Returns whether there was one.
local seq = ARGV[2]
if redis.call('ZREM', DEAD, seq) == 0 then
  return 0
end
local key = redis.call('HGET', message(seq), 'key')
unhalt(key, seq)
redis.call('DEL', message(seq))
placeUnlessLeased(key)
return 1
