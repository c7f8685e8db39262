-- All messages.
local found = {}
for _, name in ipairs(redis.call('KEYS', KEYS[1] .. 'message:*')) do
  local seq = string.match(name, '%d+$')
  local id, key, kind, failed = unpack(redis.call('HMGET', name, 'id', 'key', 'eventType', 'error'))
  found[#found + 1] = seq .. ' ' .. tostring(id) .. ' ' .. tostring(key) .. ' ' .. tostring(kind)
    .. ' ' .. tostring(failed)
end
return found
