-- Replaces the standings of a season by recomputed ones, and takes a game out of the ratings.
--
-- KEYS  head (hash), rows of the season (hash), voided games (set), repair (hash)
-- ARGV  voided: the game to take out, "" for none; differences: what a repair changes, to be
--       remembered with the number of games, "" for none; 8... rows, name and value
--
-- Returns 1, or 0 if the ladder has changed since.
local head_key, rows_key, voided_key, repair_key = unpack(KEYS)
local expected_sequence, expected_season, expected_generation = unpack(ARGV, 1, 3)
local voided, games, differences, remembered_seconds = unpack(ARGV, 4, 7)

local head = redis.call('HMGET', head_key, 'sequence', 'season', 'generation')
if (head[1] or '0') ~= expected_sequence or (head[2] or '1') ~= expected_season
  or (head[3] or '0') ~= expected_generation then
  return 0
end
redis.call('HINCRBY', head_key, 'generation', 1)
if voided ~= '' then redis.call('SADD', voided_key, voided) end
if differences ~= '' then
  redis.call('HSET', repair_key, 'games', games, 'differences', differences)
  redis.call('EXPIRE', repair_key, remembered_seconds)
end
redis.call('DEL', rows_key)
for i = 8, #ARGV, 2 do redis.call('HSET', rows_key, ARGV[i], ARGV[i + 1]) end
return 1
