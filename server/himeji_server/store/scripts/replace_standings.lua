-- Puts a computed table in place of a season's live one, and takes a game out of the ratings.
--
-- KEYS  1 head (hash)  2 rows of the season (hash)  3 voided games (set)
-- ARGV  1 expected sequence  2 expected season  3 expected generation
--       4 game to take out, "" for none  5... rows, name and value
--
-- Answers 1, or 0 if the ladder has moved on.
local head = redis.call('HMGET', KEYS[1], 'sequence', 'season', 'generation')
if (head[1] or '0') ~= ARGV[1] or (head[2] or '1') ~= ARGV[2] or (head[3] or '0') ~= ARGV[3] then
  return 0
end
redis.call('HINCRBY', KEYS[1], 'generation', 1)
if ARGV[4] ~= '' then redis.call('SADD', KEYS[3], ARGV[4]) end
redis.call('DEL', KEYS[2])
for i = 5, #ARGV, 2 do redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1]) end
return 1
