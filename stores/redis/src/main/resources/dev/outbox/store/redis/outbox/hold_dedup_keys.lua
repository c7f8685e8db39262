#!lua
-- Holds dedup keys for an open transaction. ARGV: version, the transaction's token, for how many ms,
-- the keys. Returns for each: 1, it is held now; 0, it was appended; -1, another open transaction
-- has it, and then nothing is held. An append has turned the token into the word "appended".
local answers, free = {}, {}
for i = 4, #ARGV do
  local key = KEYS[1] .. 'dedup:' .. ARGV[i]
  local value = redis.call('GET', key)
  if not value then
    free[#free + 1] = key
    answers[#answers + 1] = 1
  elseif value == 'appended' or value == ARGV[2] then
    answers[#answers + 1] = 0
  else
    return {-1}
  end
end
for _, key in ipairs(free) do
  redis.call('SET', key, ARGV[2], 'PX', ARGV[3])
end
return answers
