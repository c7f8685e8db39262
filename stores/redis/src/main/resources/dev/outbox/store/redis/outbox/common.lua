-- What all scripts of the outbox share, behind head.lua.
local READY = KEYS[1] .. 'ready' -- keys to be claimed, by the turn that they have
local LEASES = KEYS[1] .. 'leases' -- keys that a claim holds, by the end of the lease
local RETRIES = KEYS[1] .. 'retries' -- keys whose first message waits, by when it is due
local MESSAGES = KEYS[1] .. 'messages' -- all of them, by sequence
local DELAYED = KEYS[1] .. 'delayed' -- messages that are in no order yet, by when they are due
local DEAD = KEYS[1] .. 'dead' -- dead letters, by sequence
local BLOCKED = KEYS[1] .. 'blocked' -- keys with messages that failed
local HALTED = KEYS[1] .. 'halted' -- keys that dead letters halt, by how many these are
local HALTING = KEYS[1] .. 'halting' -- dead letters that halt their keys, by sequence
local PAUSES = KEYS[1] .. 'pauses' -- aggregate types that are paused

local function message(seq)
  return KEYS[1] .. 'message:' .. seq
end

-- The messages of a key that are neither delayed nor dead, by sequence.
local function order(key)
  return KEYS[1] .. 'order:' .. key
end

-- Who holds a key, how many leases in a row ran out, how many of its messages failed.
local function state(key)
  return KEYS[1] .. 'key:' .. key
end

local function isHalted(key)
  return redis.call('ZSCORE', HALTED, key)
end

-- Of a message: until when it waits for its retry, or false; whether it has failed; its key.
local function look(seq)
  local failed, due, key = unpack(redis.call('HMGET', message(seq), 'failed', 'due', 'key'))
  return failed and (tonumber(due) or 0) > NOW and due, failed, key
end

-- A message is gone.
local function forget(seq)
  redis.call('ZREM', MESSAGES, seq)
  redis.call('DEL', message(seq))
end

-- Puts a key that nobody holds where its first message belongs. A key that is ready keeps its turn.
local function place(key)
  local head = redis.call('ZRANGE', order(key), 0, 0)[1]
  local turn, retryAt
  if head and not isHalted(key) then
    retryAt = look(head)
    turn = not retryAt
  end
  if retryAt then
    redis.call('ZADD', RETRIES, retryAt, key)
  else
    redis.call('ZREM', RETRIES, key)
  end
  if not turn then
    redis.call('ZREM', READY, key)
  elseif not redis.call('ZSCORE', READY, key) then
    redis.call('ZADD', READY, redis.call('INCR', KEYS[1] .. 'turn'), key)
  end
  if not head then
    redis.call('DEL', state(key))
  end
end

local function placeUnlessLeased(key)
  if not redis.call('ZSCORE', LEASES, key) then
    place(key)
  end
end

-- A message takes its place in the order of its key.
local function arrive(key, seq)
  redis.call('ZADD', order(key), seq, seq)
  placeUnlessLeased(key)
end

-- Remembers of a message whether it failed, and of its key whether any did.
local function setFailed(key, seq, failed)
  local change
  if failed then
    change = redis.call('HSETNX', message(seq), 'failed', 1)
  else
    change = -redis.call('HDEL', message(seq), 'failed')
  end
  if change ~= 0 then
    if redis.call('HINCRBY', state(key), 'failed', change) > 0 then
      redis.call('ZADD', BLOCKED, 0, key)
    else
      redis.call('ZREM', BLOCKED, key)
    end
  end
end

local function addAttempts(seq, number)
  local before = tonumber(redis.call('HGET', message(seq), 'attempts')) or 0
  redis.call('HSET', message(seq), 'attempts', digits(before + number))
end

-- Key and sequence of a dead letter that halted its key and does no longer.
local function unhalt(key, seq)
  redis.call('ZREM', HALTING, seq)
  if redis.call('HDEL', message(seq), 'halts') == 1 and redis.call('ZINCRBY', HALTED, -1, key) == '0' then
    redis.call('ZREM', HALTED, key)
  end
end
