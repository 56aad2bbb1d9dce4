-- Takes or renews a lease that nobody else holds.
--
-- KEYS  1 lease (string)
-- ARGV  1 holder  2 how long it lasts, in ms
--
-- Answers 1, or 0 if somebody else holds it.
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
