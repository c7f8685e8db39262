#!lua flags=no-writes
-- Counts what waits. ARGV: version, cap. Returns pending, scheduled, blocked, dead, blocked keys,
-- halted keys, and for how long the oldest free and the oldest blocked message have been due (-1:
-- there is none). Reads the first keys only, as many as make the cap, and a few more: where a number
-- of keys and messages above the cap add nothing, the figures are the least that there can be.
local cap = tonumber(ARGV[2])
local looks -- how many more keys and messages are looked at, for the free or for the blocked
local free, blocked, blockedKeys = 0, 0, 0
local age = {free = -1, blocked = -1}

local function isFailed(seq)
  return redis.call('HEXISTS', message(seq), 'failed') == 1
end

-- How many messages of a key are before the first that failed, and how many from there on.
local function split(key, number)
  if isHalted(key) then
    return 0, number
  end
  local failed = tonumber(redis.call('HGET', state(key), 'failed')) or 0
  if failed == 0 then
    return number, 0
  end
  for i = 0, number - 1 do
    if isFailed(redis.call('ZRANGE', order(key), i, i)[1]) then
      return i, number - i
    end
    looks = looks - 1
    if looks <= 0 then
      return i + 1, failed
    end
  end
  return number, 0
end

local function measure(kind, key, index)
  local seq = redis.call('ZRANGE', order(key), index, index)[1]
  if seq then
    local times = redis.call('HMGET', message(seq), 'createdAt', 'availableAt')
    local since = math.max(tonumber(times[1]) or NOW, tonumber(times[2]) or 0)
    age[kind] = math.max(age[kind], NOW - since)
  end
end

-- Calls with each key of a set, until told that it is enough.
local function each(zset, call)
  local from = 0
  repeat
    local page = redis.call('ZRANGE', zset, from, from + 99)
    for _, key in ipairs(page) do
      looks = looks - 1
      if looks < 0 or call(key, redis.call('ZCARD', order(key))) then
        return
      end
    end
    from = from + 100
  until #page < 100
end

local function countFree(key, number)
  local before = split(key, number)
  if before > 0 then
    free = free + before
    measure('free', key, 0)
  end
  return free >= cap
end

local function countBlocked(key, number)
  local before, behind = split(key, number)
  blocked = blocked + behind
  if behind == number - before then
    measure('blocked', key, before)
  end
  return blocked >= cap
end

local MOST = 2 * cap + 1000
looks = MOST
each(READY, countFree)
if free < cap then
  each(LEASES, countFree)
end
looks = MOST
each(BLOCKED, function(key, number)
  if isHalted(key) then
    return false -- it is among the halted
  end
  blockedKeys = blockedKeys + 1
  countBlocked(key, number)
  return blockedKeys >= cap
end)
each(HALTED, countBlocked)
return {
  math.min(cap, free), math.min(cap, redis.call('ZCARD', DELAYED)), math.min(cap, blocked),
  math.min(cap, redis.call('ZCARD', DEAD)), blockedKeys, math.min(cap, redis.call('ZCARD', HALTED)),
  age.free, age.blocked
}
