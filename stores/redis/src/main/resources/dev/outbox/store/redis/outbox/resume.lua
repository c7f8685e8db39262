#!lua flags=allow-oom
-- Forgets a pause. ARGV: version, aggregate type or nothing. Returns whether it was there.
return redis.call('HDEL', PAUSES, ARGV[2])
