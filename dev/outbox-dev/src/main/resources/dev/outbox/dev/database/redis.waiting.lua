-- Not those that are dead for good.
local found = {}
for _, name in ipairs(redis.call('KEYS', KEYS[1] .. 'message:*')) do
  local seq = string.match(name, '%d+$')
  local id, key, kind, failed = unpack(redis.call('HMGET', name, 'id', 'key', 'eventType', 'error'))
  local dead = redis.call('ZSCORE', KEYS[1] .. 'dead', seq)
  if not (dead and (kind == 'DOOMED' or kind == 'TOO_LARGE')) then
    found[#found + 1] = seq .. ' ' .. tostring(id) .. ' ' .. tostring(key) .. ' ' .. tostring(kind)
      .. ' ' .. tostring(failed)
  end
end
return found
