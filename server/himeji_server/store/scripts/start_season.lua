-- Ends the running season of a ladder and starts the next.
--
-- KEYS  head (hash), seasons (hash), starting means of the new season (hash)
-- ARGV  ended: the season that ends; begun: the new season; 6... starting means, name and value
--
-- Returns 1, or 0 if the ladder has changed since.
local head_key, seasons_key, means_key = unpack(KEYS)
local expected_sequence, expected_season, expected_generation, ended, begun = unpack(ARGV, 1, 5)

local head = redis.call('HMGET', head_key, 'sequence', 'season', 'generation')
if (head[1] or '0') ~= expected_sequence or (head[2] or '1') ~= expected_season
  or (head[3] or '0') ~= expected_generation then
  return 0
end
local number = tonumber(expected_season)
redis.call('HSET', seasons_key, number, ended, number + 1, begun)
redis.call('HSET', head_key, 'season', number + 1)
for i = 6, #ARGV, 2 do redis.call('HSET', means_key, ARGV[i], ARGV[i + 1]) end
return 1
