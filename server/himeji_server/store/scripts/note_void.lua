-- Notes that a rated game is void, and that the standings still count it.
--
-- KEYS  voided games (set), pending voids (hash)
--
-- Returns 1, or 0 if the game was void already.
local voided_key, pending_key = unpack(KEYS)
local game_id, record = unpack(ARGV)

if redis.call('SADD', voided_key, game_id) == 0 then return 0 end
redis.call('HSET', pending_key, game_id, record)
return 1
