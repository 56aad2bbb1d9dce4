-- Takes a name off the list of owners.
--
-- KEYS  names (sorted set), the same names sorted as those of bots are (sorted set),
--       names by their skeletons (hash)
-- ARGV  skeleton: what the name looks like
local names_key, by_bot_key, skeletons_key = unpack(KEYS)
local name, skeleton = unpack(ARGV)

redis.call('ZREM', names_key, name)
redis.call('ZREM', by_bot_key, name .. '/')
if redis.call('HGET', skeletons_key, skeleton) == name then
  redis.call('HDEL', skeletons_key, skeleton)
end
