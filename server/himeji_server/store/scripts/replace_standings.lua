-- Replaces the standings of a season, and the snapshots from a sequence on, by recomputed ones.
--
-- KEYS  head (hash), rows of the season (hash), pending voids (hash), repair (hash), snapshots
--       (sorted set: sequences), the recomputed rows (hash), 7... the snapshots to remove (hashes),
--       then for each new one where it was prepared and where it belongs (hashes)
-- ARGV  row_count: of the recomputed rows; differences: what a repair changes, to be remembered
--       with the number of games, "" for none; first: snapshots from this sequence on are replaced;
--       then three counts with what they count: voided games that the rows leave out; sequences of
--       snapshots to remove; new snapshots, each with its sequence and its number of rows
--
-- Returns "ok", "conflict" if the ladder has changed since, or "incomplete" if the recomputed rows
-- have expired.
local head_key, rows_key, pending_key, repair_key, snapshots_key, prepared_key = unpack(KEYS, 1, 6)
local expected_sequence, expected_season, expected_generation = unpack(ARGV, 1, 3)
local row_count, games, differences, remembered_seconds, first = unpack(ARGV, 4, 8)

local next_argument, next_key = 9, 7
local function list(width)
  local found, count = {}, tonumber(ARGV[next_argument]) * width
  for i = 1, count do found[i] = ARGV[next_argument + i] end
  next_argument = next_argument + count + 1
  return found
end
local function take_key()
  next_key = next_key + 1
  return KEYS[next_key - 1]
end
local voided, removed, added = list(1), list(1), list(2)

local head = redis.call('HMGET', head_key, 'sequence', 'season', 'generation')
if (head[1] or '0') ~= expected_sequence or (head[2] or '1') ~= expected_season
  or (head[3] or '0') ~= expected_generation then
  return 'conflict'
end
-- A snapshot that was taken after the caller had listed them would keep what is replaced here.
local listed = {}
for _, sequence in ipairs(removed) do listed[sequence] = true end
for _, sequence in ipairs(redis.call('ZRANGEBYSCORE', snapshots_key, first, '+inf')) do
  if not listed[sequence] then return 'conflict' end
end
if redis.call('HLEN', prepared_key) ~= tonumber(row_count) then return 'incomplete' end

redis.call('HINCRBY', head_key, 'generation', 1)
for _, game_id in ipairs(voided) do redis.call('HDEL', pending_key, game_id) end
if differences ~= '' then
  redis.call('HSET', repair_key, 'games', games, 'differences', differences)
  redis.call('EXPIRE', repair_key, remembered_seconds)
end
local function move(from, to)
  redis.call('UNLINK', to)
  if redis.call('EXISTS', from) == 0 then return end
  redis.call('RENAME', from, to)
  redis.call('PERSIST', to)
end
move(prepared_key, rows_key)
for _, sequence in ipairs(removed) do
  redis.call('UNLINK', take_key())
  redis.call('ZREM', snapshots_key, sequence)
end
for i = 1, #added, 2 do
  local from, to = take_key(), take_key()
  if redis.call('HLEN', from) == tonumber(added[i + 1]) then
    move(from, to)
    redis.call('ZADD', snapshots_key, added[i], added[i])
  end
end
return 'ok'
