#!lua
-- Makes dead letters due again, at their places and with no attempts. ARGV: version, sequences.
-- Returns those that were there.
local requeued = {}
for i = 2, #ARGV do
  local seq = ARGV[i]
  local key = redis.call('HGET', message(seq), 'key')
  if key and redis.call('ZREM', DEAD, seq) == 1 then
    redis.call('HSET', message(seq), 'attempts', 0)
    unhalt(key, seq)
    arrive(key, seq)
    requeued[#requeued + 1] = seq
  end
end
return requeued
