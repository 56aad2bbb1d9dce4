-- Puts a name on the list of owners before the owner is created, if there is room.
--
-- KEYS  1 names (sorted set)  2 the same, sorted as bots are (sorted set)
-- ARGV  1 name  2 how many owners there may be
--
-- Answers 1, or 0 when the list is full.
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) and redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then
  return 0
end
redis.call('ZADD', KEYS[1], 0, ARGV[1])
redis.call('ZADD', KEYS[2], 0, ARGV[1] .. '/')
return 1
