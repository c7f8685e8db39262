#!lua flags=no-writes
-- Returns how much is in progress, how many locks have run out, and how much was released.
return {
  redis.call('ZCOUNT', LOCKS, '(' .. digits(NOW), '+inf'),
  redis.call('ZCOUNT', LOCKS, '-inf', digits(NOW)),
  redis.call('ZCARD', FAILED)
}
