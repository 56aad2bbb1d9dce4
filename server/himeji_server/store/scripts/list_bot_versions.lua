-- Lists the versions of a bot from one number to another, as far as they are kept.
--
-- KEYS  bot (hash), versions (list): the newest ones, all of them unless they were replaced
-- ARGV  first, last: the numbers
--
-- Returns the number of the first one that is listed, and the versions.
local bot_key, versions_key = unpack(KEYS)
local first, last = unpack(ARGV)

local newest = tonumber(redis.call('HGET', bot_key, 'newest') or 0)
local replaced = newest - redis.call('LLEN', versions_key)
first, last = math.max(tonumber(first), replaced + 1), tonumber(last)
if last < first then return {first, {}} end
return {first, redis.call('LRANGE', versions_key, first - replaced - 1, last - replaced - 1)}
