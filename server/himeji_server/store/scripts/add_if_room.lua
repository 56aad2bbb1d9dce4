-- Adds a game to a sorted set of limited size, with the time at which it is added.
--
-- KEYS  games (sorted set)
-- ARGV  seconds: how long the set is kept after the last addition
--
-- Returns "added", "present" if the set has the game already, or "full".
local games_key = KEYS[1]
local game_id, max_games, seconds = unpack(ARGV)

if redis.call('ZSCORE', games_key, game_id) then return 'present' end
if redis.call('ZCARD', games_key) >= tonumber(max_games) then return 'full' end
local time = redis.call('TIME')
redis.call('ZADD', games_key, time[1] * 1000 + math.floor(time[2] / 1000), game_id)
redis.call('EXPIRE', games_key, seconds)
return 'added'
