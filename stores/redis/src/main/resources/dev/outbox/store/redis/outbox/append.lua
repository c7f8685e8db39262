#!lua
-- Appends messages, in order. ARGV: version, how long dedup keys are remembered in ms; for each
-- message its delay (empty: none), the number of its fields, and name and value of each. A field
-- that is required is id, aggregateType, aggregateId, eventType or payload; availableAt,
-- expiresAt and expireAfter are in microseconds. Returns the sequences. What breaks a limit is refused before anything is written.
local LIMITS = {
  id = 36, aggregateType = 255, aggregateId = 255, eventType = 255, partitionKey = 255,
  contentType = 255, dedupKey = 255, correlationId = 255,
  payload = 1000000, headers = 200000, availableAt = 18, expiresAt = 18, expireAfter = 18,
  maxAttempts = 10
}
local BYTES = {payload = true, headers = true}

local function length(name, value)
  if BYTES[name] then
    return #value
  end
  local _, characters = string.gsub(value, '[^\128-\191]', '')
  return characters
end

local function refuse(why)
  return redis.error_reply('OUTBOXLIMIT ' .. why)
end

-- What does not, would stop this script after it has written.
local function isNumber(text, pattern)
  return #text <= LIMITS.availableAt and string.match(text, pattern)
end

if not isNumber(ARGV[2] or '', '^[1-9]%d*$') then
  return refuse('the time for dedup keys is ' .. (ARGV[2] or 'missing') .. ', a number of ms is needed')
end

local messages = {}
local at = 3
while at <= #ARGV do
  local fields = {}
  local delay, number = ARGV[at], ARGV[at + 1] or 'missing'
  if delay ~= '' and not isNumber(delay, '^%d+$') then
    return refuse('the delay is ' .. delay .. ', a number of microseconds is needed, or nothing')
  end
  local last = isNumber(number, '^%d+$') and at + 1 + 2 * number
  if not last or last > #ARGV then
    return refuse('the number of fields is ' .. number .. ', and there are others')
  end
  for i = at + 2, last, 2 do
    local name, value = ARGV[i], ARGV[i + 1]
    if not LIMITS[name] then
      return refuse('there is no field ' .. name)
    end
    if fields[name] then
      return refuse('the field ' .. name .. ' is there twice')
    end
    if length(name, value) > LIMITS[name] then
      return refuse(name .. ' has ' .. length(name, value) ..
        (BYTES[name] and ' bytes' or ' characters') .. ', at most ' .. LIMITS[name] .. ' are allowed')
    end
    fields[name] = value
  end
  for _, name in ipairs({'id', 'aggregateType', 'aggregateId', 'eventType', 'payload'}) do
    if not fields[name] then
      return refuse(name .. ' is missing')
    end
  end
  for _, name in ipairs({'availableAt', 'expiresAt', 'expireAfter'}) do
    if fields[name] and not isNumber(fields[name], '^-?%d+$') then
      return refuse(name .. ' is ' .. fields[name] .. ', a number of microseconds is needed')
    end
  end
  messages[#messages + 1] = {delay = tonumber(delay), fields = fields, from = at + 2, to = last}
  at = last + 1
end

local sequences = {}
for i, m in ipairs(messages) do
  local key = m.fields.partitionKey or m.fields.aggregateType .. '/' .. m.fields.aggregateId
  local due = m.delay and digits(NOW + m.delay) or m.fields.availableAt
  local seq = redis.call('INCR', KEYS[1] .. 'sequence')
  redis.call('HSET', message(seq), 'key', key, 'createdAt', digits(NOW), unpack(ARGV, m.from, m.to))
  redis.call('ZADD', MESSAGES, seq, seq)
  if due then
    redis.call('HSET', message(seq), 'availableAt', due)
  end
  if m.fields.expireAfter then
    redis.call('HDEL', message(seq), 'expireAfter')
    redis.call('HSET', message(seq), 'expiresAt', digits(NOW + m.fields.expireAfter))
  end
  if due and tonumber(due) > NOW then
    redis.call('ZADD', DELAYED, due, seq)
  else
    arrive(key, seq)
  end
  if m.fields.dedupKey then
    redis.call('SET', KEYS[1] .. 'dedup:' .. m.fields.dedupKey, 'appended', 'PX', ARGV[2])
  end
  sequences[i] = seq
end
return sequences
