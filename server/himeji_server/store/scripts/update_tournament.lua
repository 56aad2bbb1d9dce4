-- Changes one field of a tournament, or of its games, unless it has changed since it was read.
--
-- KEYS  tournament (hash), changed (hash): the tournament, or its games; counters (hash)
-- ARGV  version: how often the tournament had changed when it was read; field, value;
--       4...  counters, and what is added to each
--
-- Returns 1, or 0 if the tournament has changed.
local tournament_key, changed_key, counters_key = unpack(KEYS)
local version, field, value = unpack(ARGV, 1, 3)

if tonumber(redis.call('HGET', tournament_key, 'version') or 0) ~= tonumber(version) then
  return 0
end
redis.call('HINCRBY', tournament_key, 'version', 1)
redis.call('HSET', changed_key, field, value)
for i = 4, #ARGV, 2 do redis.call('HINCRBY', counters_key, ARGV[i], ARGV[i + 1]) end
return 1
