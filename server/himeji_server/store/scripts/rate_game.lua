-- Appends a rated game to the log of a ladder and changes its standings, once per game.
--
-- KEYS  head (hash), log (stream), rows of the season (hash), rated games (hash),
--       5... histories of the bots (lists)
-- ARGV  6... rows, name and value
--
-- Returns {"ok", sequence}, {"repeated", sequence} if the game was rated before, or {"conflict"} if
-- the rows were not computed from the standings as they are.
local head_key, log_key, rows_key, rated_key = unpack(KEYS, 1, 4)
local game_id, expected_sequence, expected_season, expected_generation, entry = unpack(ARGV, 1, 5)

local before = redis.call('HGET', rated_key, game_id)
if before then return {'repeated', tonumber(before)} end
local head = redis.call('HMGET', head_key, 'sequence', 'season', 'generation')
if (head[1] or '0') ~= expected_sequence or (head[2] or '1') ~= expected_season
  or (head[3] or '0') ~= expected_generation then
  return {'conflict'}
end
local sequence = tonumber(expected_sequence) + 1
redis.call('XADD', log_key, sequence .. '-0', 'r', entry)
redis.call('HSET', head_key, 'sequence', sequence)
redis.call('HSET', rated_key, game_id, sequence)
redis.call('HSET', rows_key, unpack(ARGV, 6))
for i = 5, #KEYS do redis.call('RPUSH', KEYS[i], sequence) end
return {'ok', sequence}
