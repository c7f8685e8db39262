#!lua flags=allow-oom
-- Leases keys and takes their first due messages. ARGV: version, the claim's token, the most
-- messages, the most bytes of payloads, the lease. Returns whether attempts were counted, for each
-- message its sequence and its fields, and the time. May run where memory is full: else nothing would ever
-- leave it.
local MOST = 1000 -- of each kind that a claim moves
local SUSPICIOUS = 3 -- so many leases in a row ran out
local token, most, mostBytes, lease =
  ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])

local function due(zset)
  return redis.call('ZRANGEBYSCORE', zset, '-inf', digits(NOW), 'LIMIT', 0, MOST)
end

-- 1. What was waiting for a time gets its turn.
for _, seq in ipairs(due(DELAYED)) do
  redis.call('ZREM', DELAYED, seq)
  local key = redis.call('HGET', message(seq), 'key')
  if key then -- else somebody has removed the message
    arrive(key, seq)
  end
end
for _, key in ipairs(due(RETRIES)) do
  place(key)
end
for _, key in ipairs(due(LEASES)) do
  redis.call('ZREM', LEASES, key)
  redis.call('HINCRBY', state(key), 'expired', 1)
  place(key)
end
-- A lease that ends much further ahead than it is long is from before the clock was put back.
for _ = 1, MOST do
  local last = redis.call('ZREVRANGE', LEASES, 0, 0, 'WITHSCORES')
  if not last[1] or last[2] - NOW <= 2 * tonumber(redis.call('HGET', state(last[1]), 'lease') or 0) then
    break
  end
  redis.call('ZREM', LEASES, last[1])
  place(last[1])
end

-- 2. The keys whose turn it is, until the claim is full.
local claimed, bytes, full, counted = {}, 0, false, 0

local function add(seq, size, alone)
  claimed[#claimed + 1] = {seq, redis.call('HGETALL', message(seq))}
  bytes = bytes + size
  if alone then -- it may be what ends the process: its attempt counts before it is published
    addAttempts(seq, 1)
    counted = 1
    full = true
  end
end

-- Repairs a message that has not its key; says no when it is not there at all, and takes it out.
local function isThere(key, seq)
  if redis.call('EXISTS', message(seq)) == 1 then
    redis.call('HSET', message(seq), 'key', key)
    return true
  end
  forget(seq)
  redis.call('ZREM', order(key), seq)
  if redis.call('ZCARD', order(key)) == 0 then
    redis.call('ZREM', BLOCKED, key)
  end
end

-- From the oldest on, and nothing past one that failed; that one comes alone.
local function take(key, alone)
  local from, first = 0, #claimed
  repeat
    local page = redis.call('ZRANGE', order(key), from, from + 99)
    for _, seq in ipairs(page) do
      local waits, failed, stored = look(seq)
      if failed and (#claimed > first or waits) then
        return
      end
      if stored == key or isThere(key, seq) then
        local size = redis.call('HSTRLEN', message(seq), 'payload')
        if #claimed > 0 and (#claimed >= most or bytes + size > mostBytes) then
          full = true
          return
        end
        add(seq, size, alone)
        if failed or full then
          return
        end
        from = from + 1
      end
    end
  until #page < 100
end

local passed = 0
while not full and passed < MOST do
  local key = redis.call('ZRANGE', READY, passed, passed)[1]
  if not key then
    break
  end
  local before = #claimed
  local alone = tonumber(redis.call('HGET', state(key), 'expired') or 0) >= SUSPICIOUS
  if alone and before > 0 then
    passed = passed + 1 -- it comes when it is first
  else
    take(key, alone)
    if #claimed > before then
      redis.call('ZREM', READY, key)
      redis.call('ZADD', LEASES, digits(NOW + lease), key)
      redis.call('HSET', state(key), 'holder', token, 'lease', digits(lease))
    elseif not full then
      place(key) -- the clock was put back
    end
  end
end
return {counted, claimed, NOW}
