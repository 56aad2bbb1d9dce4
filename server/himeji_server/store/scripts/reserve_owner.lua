-- Adds a name to the list of owners before the owner is created, if there is room and no other name
-- looks like it.
--
-- KEYS  names (sorted set), the same names sorted as those of bots are (sorted set),
--       names by their skeletons (hash)
-- ARGV  skeleton: what the name looks like
--
-- Returns {"ok"}, {"full"} or {"similar", name}.
local names_key, by_bot_key, skeletons_key = unpack(KEYS)
local name, max_owners, skeleton = unpack(ARGV)

local similar = redis.call('HGET', skeletons_key, skeleton)
if similar and similar ~= name then return {'similar', similar} end
local listed = redis.call('ZSCORE', names_key, name)
if not listed and redis.call('ZCARD', names_key) >= tonumber(max_owners) then return {'full'} end
redis.call('ZADD', names_key, 0, name)
redis.call('ZADD', by_bot_key, 0, name .. '/')
redis.call('HSET', skeletons_key, skeleton, name)
return {'ok'}
