-- Ends the running season of a ladder and starts the next.
--
-- KEYS  1 head (hash)  2 seasons (hash)  3 starting means of the new season (hash)
-- ARGV  1 expected sequence  2 expected season  3 expected generation
--       4 the season that ends  5 the new season  6... starting means, name and value
--
-- Answers 1, or 0 if the ladder has moved on.
local head = redis.call('HMGET', KEYS[1], 'sequence', 'season', 'generation')
if (head[1] or '0') ~= ARGV[1] or (head[2] or '1') ~= ARGV[2] or (head[3] or '0') ~= ARGV[3] then
  return 0
end
local number = tonumber(ARGV[2])
redis.call('HSET', KEYS[2], number, ARGV[4], number + 1, ARGV[5])
redis.call('HSET', KEYS[1], 'season', number + 1)
for i = 6, #ARGV, 2 do redis.call('HSET', KEYS[3], ARGV[i], ARGV[i + 1]) end
return 1
