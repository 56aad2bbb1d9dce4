-- Adds a rated game to the log of a ladder and changes its table, once per game.
--
-- KEYS  1 head (hash)  2 log (stream)  3 rows of the season (hash)  4 rated games (hash)
--       5... histories of the bots (lists)
-- ARGV  1 game id  2 expected sequence  3 expected season  4 expected generation  5 log entry
--       6... rows, name and value
--
-- Answers {"ok", sequence}, {"again", sequence} if the game was rated before, or {"conflict"} if
-- the table is not the one from which the rows were computed.
local before = redis.call('HGET', KEYS[4], ARGV[1])
if before then return {'again', tonumber(before)} end
local head = redis.call('HMGET', KEYS[1], 'sequence', 'season', 'generation')
if (head[1] or '0') ~= ARGV[2] or (head[2] or '1') ~= ARGV[3] or (head[3] or '0') ~= ARGV[4] then
  return {'conflict'}
end
local sequence = tonumber(ARGV[2]) + 1
redis.call('XADD', KEYS[2], sequence .. '-0', 'r', ARGV[5])
redis.call('HSET', KEYS[1], 'sequence', sequence)
redis.call('HSET', KEYS[4], ARGV[1], sequence)
redis.call('HSET', KEYS[3], unpack(ARGV, 6))
for i = 5, #KEYS do redis.call('RPUSH', KEYS[i], sequence) end
return {'ok', sequence}
