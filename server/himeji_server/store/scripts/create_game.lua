-- Stores a new game once.
--
-- KEYS  1 game (hash)  2 index (sorted set)  3 timers (sorted set)
-- ARGV  1 game id  2 how long it may wait, in ms  3... fields of the game, name and value
--
-- Answers the time of its creation.
local created = redis.call('HGET', KEYS[1], 'created')
if created then return tonumber(created) end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local expires = now + tonumber(ARGV[2])
redis.call('HSET', KEYS[1], 'state', 'waiting', 'version', 0, 'created', now, 'expires', expires,
  unpack(ARGV, 3))
redis.call('ZADD', KEYS[2], now, ARGV[1])
redis.call('ZADD', KEYS[3], expires, ARGV[1])
return now
