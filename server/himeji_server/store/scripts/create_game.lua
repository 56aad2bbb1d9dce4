-- Stores a new game once.
--
-- KEYS  game (hash), index (sorted set), timers (sorted set)
-- ARGV  waits: milliseconds until the game is cancelled if it still waits; 3... fields of the game,
--       name and value
--
-- Returns the time of its creation.
local game_key, index_key, timers_key = unpack(KEYS)
local game_id, waits = unpack(ARGV, 1, 2)

local created = redis.call('HGET', game_key, 'created')
if created then return tonumber(created) end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local expires = now + tonumber(waits)
redis.call('HSET', game_key, 'state', 'waiting', 'version', 0, 'created', now, 'expires', expires,
  unpack(ARGV, 3))
redis.call('ZADD', index_key, now, game_id)
redis.call('ZADD', timers_key, expires, game_id)
return now
