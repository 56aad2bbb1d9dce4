-- Puts a game into a set of limited size, once.
--
-- KEYS  1 games that count (set)
-- ARGV  1 game id  2 most
--
-- Answers 1, or 0 if the set is full.
if redis.call('SISMEMBER', KEYS[1], ARGV[1]) == 1 then return 1 end
if redis.call('SCARD', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
redis.call('SADD', KEYS[1], ARGV[1])
return 1
