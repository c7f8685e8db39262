#!lua flags=allow-oom
-- Carries out decisions and gives keys back. ARGV: version, the claim's token, whether attempts were
-- counted at the claim; for each key its name and its number of messages; for each of these the
-- sequence, the id, the decision (delivered, retry, dead, halt or none), the delay, whether it
-- counts, the error. Returns the sequences of keys that the claim does not hold: nothing changes.

-- One that is gone may have left its sequence to another, as after a failover.
local function isThere(key, seq, id)
  local found = redis.call('HMGET', message(seq), 'key', 'id')
  return found[1] == key and (found[2] or '') == id
end

local function fail(seq, counts, why)
  addAttempts(seq, tonumber(counts))
  redis.call('HSET', message(seq), 'error', why, 'failedAt', digits(NOW))
end

local function apply(key, seq, decision, delay, counts, why)
  if decision == 'delivered' then
    setFailed(key, seq, false)
    redis.call('ZREM', order(key), seq)
    forget(seq)
  elseif decision == 'retry' then
    fail(seq, counts, why)
    redis.call('HSET', message(seq), 'due', digits(NOW + delay))
    setFailed(key, seq, true)
  elseif decision == 'dead' or decision == 'halt' then
    fail(seq, counts, why)
    setFailed(key, seq, false)
    redis.call('ZREM', order(key), seq)
    redis.call('ZADD', DEAD, seq, seq)
    if decision == 'halt' and redis.call('HSETNX', message(seq), 'halts', 1) == 1 then
      redis.call('ZINCRBY', HALTED, 1, key)
      redis.call('ZADD', HALTING, seq, seq)
    end
  end
end

local lost = {}
local at = 4
while at <= #ARGV do
  local key, number = ARGV[at], tonumber(ARGV[at + 1])
  local holds = redis.call('HGET', state(key), 'holder') == ARGV[2]
  at = at + 2
  for _ = 1, number do
    local seq, id, decision, delay, counts, why = unpack(ARGV, at, at + 5)
    at = at + 6
    if not holds then
      lost[#lost + 1] = tonumber(seq)
    elseif isThere(key, seq, id) then
      if ARGV[3] == '1' then
        addAttempts(seq, -1)
      end
      apply(key, seq, decision, delay, counts, why)
    end
  end
  if holds then
    redis.call('HDEL', state(key), 'holder', 'lease', 'expired')
    redis.call('ZREM', LEASES, key)
    place(key)
  end
end
return lost
