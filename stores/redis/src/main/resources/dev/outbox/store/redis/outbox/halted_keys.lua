#!lua flags=no-writes
-- Some keys that are halted. ARGV: version, how many. Returns the key and the sequence of each.
local keys = {}
for i, seq in ipairs(redis.call('ZRANGE', HALTING, 0, ARGV[2] - 1)) do
  keys[i] = {redis.call('HGET', message(seq), 'key') or '', seq}
end
return keys
