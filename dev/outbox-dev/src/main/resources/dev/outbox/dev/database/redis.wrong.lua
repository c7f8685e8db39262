-- A message is where somebody finds it, and so is a key with messages.
local P = KEYS[1]
local found = {}
local failed, halting = {}, {}
local function check(good, what)
  if not good then
    found[#found + 1] = what
  end
end
for _, name in ipairs(redis.call('KEYS', P .. 'message:*')) do
  local seq = string.match(name, '%d+$')
  local key, fails, halts = unpack(redis.call('HMGET', name, 'key', 'failed', 'halts'))
  local places = 0
  for _, zset in ipairs({'order:' .. tostring(key), 'delayed', 'dead'}) do
    if redis.call('ZSCORE', P .. zset, seq) then
      places = places + 1
    end
  end
  check(places == 1, 'message ' .. seq .. ' of ' .. tostring(key) .. ' is in ' .. places .. ' places')
  if key and fails then
    failed[key] = (failed[key] or 0) + 1
  end
  if key and halts then
    halting[key] = (halting[key] or 0) + 1
  end
end
for _, name in ipairs(redis.call('KEYS', P .. 'order:*')) do
  local key = string.sub(name, #P + #'order:' + 1)
  local leased = redis.call('ZSCORE', P .. 'leases', key)
  local there = redis.call('ZSCORE', P .. 'ready', key) or redis.call('ZSCORE', P .. 'retries', key)
  local halted = redis.call('ZSCORE', P .. 'halted', key)
  check(leased or there or halted, 'key ' .. key .. ' has messages, and nobody finds it')
  check(not (leased and there), 'key ' .. key .. ' is held, and free to be claimed')
  check(not (halted and there), 'key ' .. key .. ' is halted, and free to be claimed')
  for _, seq in ipairs(redis.call('ZRANGE', name, 0, -1)) do
    check(redis.call('EXISTS', P .. 'message:' .. seq) == 1, 'message ' .. seq .. ' of ' .. key .. ' is gone')
  end
end
for _, key in ipairs(redis.call('ZRANGE', P .. 'blocked', 0, -1)) do
  check(failed[key], 'key ' .. key .. ' is blocked, and none of its messages has failed')
end
for key, number in pairs(failed) do
  local counted = tonumber(redis.call('HGET', P .. 'key:' .. key, 'failed')) or 0
  check(counted == number, number .. ' messages of ' .. key .. ' have failed, and ' .. counted .. ' are counted')
end
for _, key in ipairs(redis.call('ZRANGE', P .. 'halted', 0, -1)) do
  local counted = tonumber(redis.call('ZSCORE', P .. 'halted', key))
  check(halting[key] == counted, 'key ' .. key .. ' is halted by ' .. counted .. ' dead letters, of which '
    .. (halting[key] or 0) .. ' are there')
end
return found
