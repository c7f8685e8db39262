#!lua flags=no-writes
-- A page of dead letters. ARGV: version, after which sequence, how many. Returns as a claim does.
local letters = {}
local page = redis.call('ZRANGEBYSCORE', DEAD, '(' .. ARGV[2], '+inf', 'LIMIT', 0, ARGV[3])
for i, seq in ipairs(page) do
  letters[i] = {seq, redis.call('HGETALL', message(seq))}
end
return letters
