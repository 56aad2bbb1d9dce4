-- Stores a new game once.
--
-- KEYS  game (hash), index (sorted set), timers (sorted set)
-- ARGV  waits: milliseconds until the game is cancelled if it still waits; index_changes: see
--       index.lua; 4... fields of the game, name and value
--
-- Returns the time of its creation.
local game_key, game_index_key, timers_key = unpack(KEYS)
local game_id, waits, index_changes = unpack(ARGV, 1, 3)

local created = redis.call('HGET', game_key, 'created')
if created then return tonumber(created) end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local expires = now + tonumber(waits)
redis.call('HSET', game_key, 'state', 'waiting', 'version', 0, 'created', now, 'expires', expires,
  unpack(ARGV, 4))
change_index(game_index_key, index_changes, now, game_id)
redis.call('ZADD', timers_key, expires, game_id)
return now
