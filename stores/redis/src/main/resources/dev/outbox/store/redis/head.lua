-- What all scripts begin with. Before the name of each key stands KEYS[1], which has the hash tag in
-- it, so that all keys are in one slot. ARGV[1] is the version of the schema that the caller knows.
-- Times are microseconds of the server's clock.
local found = redis.call('GET', KEYS[1] .. 'schema')
if found ~= ARGV[1] then
  return redis.error_reply('OUTBOXSCHEMA ' .. (found or 'none'))
end

local clock = redis.call('TIME')
local NOW = clock[1] * 1000000 + clock[2]

-- Lua would write a time as 1.7e+15.
local function digits(number)
  return string.format('%.0f', number)
end

