#!lua
-- Makes an entry done that a transaction holds. ARGV: version, name, the transaction's token, the
-- retention.
local name = ARGV[2]
redis.call('DEL', hold(name))
redis.call('HSET', entry(name), 'state', 'done', 'token', ARGV[3], 'result', '')
redis.call('HINCRBY', entry(name), 'attempts', 1)
redis.call('ZREM', LOCKS, name)
redis.call('ZREM', FAILED, name)
expiresAfter(name, ARGV[4])
return 1
