-- Notes what a request is going to make, unless it was noted before.
--
-- KEYS  1 claim (string)
-- ARGV  1 the note  2 how long it is remembered, in s
--
-- Answers the note that stands: the first one.
local before = redis.call('GET', KEYS[1])
if before then return before end
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])
return ARGV[1]
