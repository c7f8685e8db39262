-- What all scripts of the inbox share, behind head.lua.
local LOCKS = KEYS[1] .. 'locks' -- what is started, by the end of its lock
local FAILED = KEYS[1] .. 'failed' -- what was released
local EXPIRES = KEYS[1] .. 'expires' -- everything, by when it may be forgotten

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
