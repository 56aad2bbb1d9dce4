-- Makes a game that is over smaller: its log becomes one field, and what only play needs is gone.
--
-- KEYS  1 game (hash)  2 log (stream)  3 timers (sorted set)
-- ARGV  1 game id  2 expected chain  3 the whole log, packed
--
-- Answers 1, or 0 if it is not over, or not the game that was packed.
local game = redis.call('HMGET', KEYS[1], 'state', 'chain', 'log')
if game[1] ~= 'over' or game[2] ~= ARGV[2] then return 0 end
if not game[3] then
  redis.call('HSET', KEYS[1], 'log', ARGV[3])
  redis.call('HDEL', KEYS[1], 'position', 'ears')
  for _, name in ipairs(redis.call('HKEYS', KEYS[1])) do
    if string.sub(name, 1, 8) == 'request:' then redis.call('HDEL', KEYS[1], name) end
  end
  redis.call('DEL', KEYS[2])
end
redis.call('ZREM', KEYS[3], ARGV[1])
return 1
