#!lua flags=no-writes
-- What is paused: aggregate type or nothing, since when, who, why or nil. ARGV: version.
local found = {}
local all = redis.call('HGETALL', PAUSES)
for i = 1, #all, 2 do
  local at, who, reason = unpack(cjson.decode(all[i + 1]))
  found[#found + 1] = {all[i], at, who, reason or false}
end
return found
