#!lua flags=allow-oom
-- Removes dead letters. ARGV: version, sequences. Returns those that were there.
local removed = {}
for i = 2, #ARGV do
  local seq = ARGV[i]
  if redis.call('ZREM', DEAD, seq) == 1 then
    local key = redis.call('HGET', message(seq), 'key')
    if key then -- else somebody has removed the message
      unhalt(key, seq)
      placeUnlessLeased(key)
    end
    forget(seq)
    removed[#removed + 1] = seq
  end
end
return removed
