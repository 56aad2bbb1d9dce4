-- Deletes a lease, or the presence of a stream, unless somebody else has taken it over.
--
-- KEYS  lease or presence (string)
-- ARGV  expected: the holder or stream
local key = KEYS[1]
local expected = ARGV[1]

if redis.call('GET', key) == expected then return redis.call('DEL', key) end
return 0
