#!lua flags=no-writes
-- Looks at messages and keys. ARGV: version, what is asked for, and what that takes.
local FIRST = 100 -- so many messages of a key are looked at for the one that failed
local LISTED = {'id', 'key', 'aggregateType', 'eventType', 'dedupKey', 'attempts', 'createdAt',
  'availableAt', 'expiresAt', 'failed', 'due', 'error', 'failedAt', 'halts'}

-- The message of a key that is tried again, and how many are before it; nil: none.
local function failedOf(key)
  if tonumber(redis.call('HGET', state(key), 'failed') or 0) > 0 then
    for i, seq in ipairs(redis.call('ZRANGE', order(key), 0, FIRST - 1)) do
      if redis.call('HEXISTS', message(seq), 'failed') == 1 then
        return seq, i - 1
      end
    end
  end
end

local function status(seq, key)
  if redis.call('ZSCORE', DEAD, seq) then
    return 'DEAD'
  end
  if tonumber(redis.call('ZSCORE', DELAYED, seq) or 0) > NOW then
    return 'SCHEDULED'
  end
  return (isHalted(key) or tonumber(failedOf(key) or seq + 1) <= tonumber(seq)) and 'BLOCKED' or 'PENDING'
end

local function attemptsAndError(seq)
  local found = redis.call('HMGET', message(seq), 'attempts', 'error')
  return found[1], found[2]
end

local ask = {}

-- A page of messages. Takes: after which sequence, how many to give, how many to read; then what is
-- asked for, each empty where it does not count: status, type, key, event type, id, dedup key, a part
-- of the error, the time before which it was appended. Returns the last sequence that was read, where it
-- did not come to the end, and for each message its status, sequence and fields.
function ask.messages(after, limit, most, wanted, ...)
  local equal = {}
  equal.aggregateType, equal.key, equal.eventType, equal.id, equal.dedupKey = ...
  local why, before = select(6, ...)

  local function isMeant(fields)
    for name, value in pairs(equal) do
      if value ~= '' and fields[name] ~= value then
        return false
      end
    end
    return (why == '' or string.find(fields.error or '', why, 1, true))
      and (before == '' or (tonumber(fields.createdAt) or 0) < tonumber(before))
  end

  local found = {}
  local all = wanted == 'DEAD' and DEAD or MESSAGES
  local page = redis.call('ZRANGEBYSCORE', all, '(' .. after, '+inf', 'LIMIT', 0, most)
  for i, seq in ipairs(page) do
    local fields, flat = {}, {}
    for j, value in ipairs(redis.call('HMGET', message(seq), unpack(LISTED))) do
      if value then
        fields[LISTED[j]] = value
        flat[#flat + 1] = LISTED[j]
        flat[#flat + 1] = value
      end
    end
    if #flat > 0 and isMeant(fields) then -- else somebody has removed the message
      local is = status(seq, fields.key or '')
      if wanted == '' or wanted == is then
        found[#found + 1] = {is, seq, flat}
        if #found == tonumber(limit) then
          return {i < #page and seq or #page == tonumber(most) and seq or '', found}
        end
      end
    end
  end
  return {#page == tonumber(most) and page[#page] or '', found}
end

-- A key that waits: its name, the message that it waits for, whether that is a dead letter, until
-- when it waits, how many wait behind it, the attempts and the error of that message.
local function waiting(key, seq, halted, before)
  local attempts, why = attemptsAndError(seq)
  local due = redis.call('HGET', message(seq), 'due')
  return {key, seq, halted and 1 or 0, due, redis.call('ZCARD', order(key)) - before, attempts, why}
end

-- The dead letter that halts a key and has the lowest sequence.
local function haltedBy(key)
  for _, seq in ipairs(redis.call('ZRANGE', HALTING, 0, 999)) do
    if redis.call('HGET', message(seq), 'key') == key then
      return seq
    end
  end
end

local function keyOf(key)
  if isHalted(key) then
    local seq = haltedBy(key)
    return seq and waiting(key, seq, true, 0)
  end
  local seq, before = failedOf(key)
  return seq and waiting(key, seq, false, before + 1)
end

-- One message. Takes: its sequence. Returns its status, sequence and fields, and its key, where
-- that waits; nothing when there is no message.
function ask.message(seq)
  local fields = redis.call('HGETALL', message(seq))
  local key = redis.call('HGET', message(seq), 'key') or ''
  return #fields > 0 and {status(seq, key), seq, fields, keyOf(key) or {}} or {}
end

-- Keys that wait for a retry, by name. Takes: after which, how many. Returns the last one that was
-- looked at, where there may be more, and the keys.
function ask.retried(after, limit)
  local found = {}
  local page = redis.call('ZRANGEBYLEX', BLOCKED, after == '' and '-' or '(' .. after, '+',
    'LIMIT', 0, limit)
  for _, key in ipairs(page) do
    found[#found + 1] = not isHalted(key) and keyOf(key) or nil
  end
  return {#page == tonumber(limit) and page[#page] or '', found}
end

-- The same of keys that are halted, by the dead letters that halt them.
function ask.halted(after, limit)
  local found = {}
  local page = redis.call('ZRANGEBYSCORE', HALTING, '(' .. after, '+inf', 'LIMIT', 0, limit)
  for _, seq in ipairs(page) do
    local key = redis.call('HGET', message(seq), 'key')
    local first = isHalted(key or '') ~= '1' and haltedBy(key)
    if key and (not first or first == seq) then -- one that is far behind comes rather twice
      found[#found + 1] = waiting(key, seq, true, 0)
    end
  end
  return {#page == tonumber(limit) and page[#page] or '', found}
end

return ask[ARGV[2]](unpack(ARGV, 3))
