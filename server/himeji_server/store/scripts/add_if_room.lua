-- Adds a game to a set of limited size.
--
-- KEYS  games (set)
--
-- Returns 1 if the set has the game, or 0 if it is full.
local games_key = KEYS[1]
local game_id, max_games = unpack(ARGV)

if redis.call('SISMEMBER', games_key, game_id) == 1 then return 1 end
if redis.call('SCARD', games_key) >= tonumber(max_games) then return 0 end
redis.call('SADD', games_key, game_id)
return 1
