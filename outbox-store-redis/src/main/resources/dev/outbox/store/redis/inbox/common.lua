-- What all scripts of the inbox begin with. Before the name of each key stands KEYS[1], which has the
-- hash tag in it, so that all keys are in one slot. ARGV[1] is the version of the schema that the
-- caller knows. Times are microseconds of the server's clock.
local found = redis.call('GET', KEYS[1] .. 'schema')
if found ~= ARGV[1] then
  return redis.error_reply('OUTBOXSCHEMA ' .. (found or 'none'))
end

local LOCKS = KEYS[1] .. 'locks' -- what is started, by the end of its lock
local FAILED = KEYS[1] .. 'failed' -- what was released
local EXPIRES = KEYS[1] .. 'expires' -- everything, by when it may be forgotten

local clock = redis.call('TIME')
local NOW = clock[1] * 1000000 + clock[2]

-- Lua would write a time as 1.7e+15.
local function digits(number)
  return string.format('%.0f', number)
end

local function entry(name)
  return KEYS[1] .. 'message:' .. name
end

-- The token of the open transaction that is about to change an entry.
local function hold(name)
  return KEYS[1] .. 'hold:' .. name
end

local function expiresAfter(name, time)
  redis.call('ZADD', EXPIRES, digits(NOW + time), name)
end
