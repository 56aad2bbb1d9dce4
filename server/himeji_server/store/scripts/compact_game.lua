-- Makes a finished game smaller: packs its log into one field and drops what only play needs.
--
-- KEYS  game (hash), log (stream), timers (sorted set)
--
-- Returns 1, or 0 if the game is not over or is not the one that was packed.
local game_key, log_key, timers_key = unpack(KEYS)
local game_id, expected_chain, packed_log = unpack(ARGV)

local state, chain, log = unpack(redis.call('HMGET', game_key, 'state', 'chain', 'log'))
if state ~= 'over' or chain ~= expected_chain then return 0 end
if not log then
  redis.call('HSET', game_key, 'log', packed_log)
  redis.call('HDEL', game_key, 'position', 'subscribers')
  for _, name in ipairs(redis.call('HKEYS', game_key)) do
    if string.sub(name, 1, 8) == 'request:' then redis.call('HDEL', game_key, name) end
  end
  redis.call('DEL', log_key)
end
redis.call('ZREM', timers_key, game_id)
return 1
