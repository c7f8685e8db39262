#!lua flags=allow-oom
-- Gives back what a transaction that ended without a commit has held. KEYS: what; ARGV: its token.
for _, key in ipairs(KEYS) do
  if redis.call('GET', key) == ARGV[1] then
    redis.call('DEL', key)
  end
end
return 1
