-- Adds a name to the list of owners before the owner is created, if there is room.
--
-- KEYS  names (sorted set), the same names sorted as those of bots are (sorted set)
--
-- Returns 1, or 0 if the list is full.
local names_key, by_bot_key = unpack(KEYS)
local name, max_owners = unpack(ARGV)

local listed = redis.call('ZSCORE', names_key, name)
if not listed and redis.call('ZCARD', names_key) >= tonumber(max_owners) then return 0 end
redis.call('ZADD', names_key, 0, name)
redis.call('ZADD', by_bot_key, 0, name .. '/')
return 1
