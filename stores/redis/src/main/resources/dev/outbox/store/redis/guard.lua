#!lua flags=allow-oom
-- Runs between a WATCH of the schema's key and MULTI. KEYS: that key; ARGV: the version that it must
-- have. Where it has another, the key is written as it was: so EXEC does nothing, not even what the
-- caller has queued.
local found = redis.call('GET', KEYS[1])
if found == ARGV[1] then
  return 1
end
redis.call('SET', KEYS[1], found or '', 'KEEPTTL')
if not found then
  redis.call('DEL', KEYS[1])
end
return redis.error_reply('OUTBOXSCHEMA ' .. (found or 'none'))
