#!lua flags=allow-oom
-- Removes messages that wait for their time: they are not due, and no claim has met them. ARGV: version, sequences.
-- Returns those that were there.
local removed = {}
for i = 2, #ARGV do
  local seq = ARGV[i]
  if tonumber(redis.call('ZSCORE', DELAYED, seq) or 0) > NOW then
    redis.call('ZREM', DELAYED, seq)
    forget(seq)
    removed[#removed + 1] = seq
  end
end
return removed
