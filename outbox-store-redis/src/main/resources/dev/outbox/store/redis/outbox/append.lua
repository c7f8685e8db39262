#!lua
-- Appends messages, in order. ARGV: version, how long dedup keys are remembered in ms; for each
-- message its delay (empty: none), the number of its fields, and name and value of each. A field
-- that is required is id, aggregateType, aggregateId, eventType or payload; availableAt is in
-- microseconds. Returns the sequences. What breaks a limit is refused before anything is written.
local LIMITS = {
  id = 36, aggregateType = 255, aggregateId = 255, eventType = 255, partitionKey = 255,
  contentType = 255, dedupKey = 255, correlationId = 255,
  payload = 1000000, headers = 200000, availableAt = 18, maxAttempts = 10
}
local BYTES = {payload = true, headers = true}

local function length(name, value)
  if BYTES[name] then
    return #value
  end
  local _, characters = string.gsub(value, '[^\128-\191]', '')
  return characters
end

local messages = {}
local at = 3
while at <= #ARGV do
  local fields = {}
  local last = at + 1 + 2 * tonumber(ARGV[at + 1])
  for i = at + 2, last, 2 do
    local name, value = ARGV[i], ARGV[i + 1]
    if not LIMITS[name] then
      return redis.error_reply('OUTBOXLIMIT there is no field ' .. name)
    end
    if length(name, value) > LIMITS[name] then
      return redis.error_reply('OUTBOXLIMIT ' .. name .. ' has ' .. length(name, value) ..
        (BYTES[name] and ' bytes' or ' characters') .. ', at most ' .. LIMITS[name] .. ' are allowed')
    end
    fields[name] = value
  end
  for _, name in ipairs({'id', 'aggregateType', 'aggregateId', 'eventType', 'payload'}) do
    if not fields[name] then
      return redis.error_reply('OUTBOXLIMIT ' .. name .. ' is missing')
    end
  end
  messages[#messages + 1] = {delay = tonumber(ARGV[at]), fields = fields, from = at + 2, to = last}
  at = last + 1
end

local sequences = {}
for i, m in ipairs(messages) do
  local key = m.fields.partitionKey or m.fields.aggregateType .. '/' .. m.fields.aggregateId
  local due = m.delay and digits(NOW + m.delay) or m.fields.availableAt
  local seq = redis.call('INCR', KEYS[1] .. 'sequence')
  redis.call('HSET', message(seq), 'key', key, 'createdAt', digits(NOW), unpack(ARGV, m.from, m.to))
  if due then
    redis.call('HSET', message(seq), 'availableAt', due)
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
