-- Acquires or renews a lease that nobody else holds.
--
-- KEYS  lease (string)
--
-- Returns 1, or 0 if somebody else holds it.
local lease_key = KEYS[1]
local holder, milliseconds = unpack(ARGV)

local holder_before = redis.call('GET', lease_key)
if holder_before and holder_before ~= holder then return 0 end
redis.call('SET', lease_key, holder, 'PX', milliseconds)
return 1
