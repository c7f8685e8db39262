#!lua
-- Remembers a pause. ARGV: version, aggregate type or nothing, who, and why if that is said.
redis.call('HSET', PAUSES, ARGV[2], cjson.encode({digits(NOW), ARGV[3], ARGV[4]}))
return 1
