-- Keeps a copy of a season's standings as they are after the last rated game.
--
-- KEYS  head (hash), rows of the season (hash), snapshots (sorted set: sequences), the copy (hash),
--       5... snapshots to remove (hashes)
-- ARGV  4... the sequences of the snapshots to remove
--
-- Returns 1, or 0 if the ladder has changed since.
local head_key, rows_key, snapshots_key, copy_key = unpack(KEYS, 1, 4)
local expected_sequence, expected_season, expected_generation = unpack(ARGV, 1, 3)

local head = redis.call('HMGET', head_key, 'sequence', 'season', 'generation')
if (head[1] or '0') ~= expected_sequence or (head[2] or '1') ~= expected_season
  or (head[3] or '0') ~= expected_generation then
  return 0
end
if redis.call('COPY', rows_key, copy_key, 'REPLACE') == 1 then
  redis.call('ZADD', snapshots_key, expected_sequence, expected_sequence)
end
for i = 5, #KEYS do
  redis.call('UNLINK', KEYS[i])
  redis.call('ZREM', snapshots_key, ARGV[i - 1])
end
return 1
