#!lua
-- Makes a dead letter due again, at its place and with no attempts. ARGV: version, sequence. Returns
-- whether there was one.
local seq = ARGV[2]
local key = redis.call('HGET', message(seq), 'key')
if not key or redis.call('ZREM', DEAD, seq) == 0 then
  return 0
end
redis.call('HSET', message(seq), 'attempts', 0)
unhalt(key, seq)
arrive(key, seq)
return 1
