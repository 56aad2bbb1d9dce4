-- Ends a game whose log was lost in part. Nothing about the log can be relied on but its last id.
--
-- KEYS  1 game (hash)  2 log (stream)  3 timers (sorted set)  4 outbox (stream)
-- ARGV  1 game id  2 expected chain  3 new chain  4 the words of the entry after its version
--       5 result   6 bells' channel  7 who rings them
--
-- Answers the new version, or 0 if the game is over or another process was faster.
local game = redis.call('HMGET', KEYS[1], 'state', 'version', 'chain', 'ears')
if not game[1] or game[1] == 'over' or game[3] ~= ARGV[2] then return 0 end
local version = (tonumber(game[2]) or 0) + 1
local last = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)[1]
if last then version = math.max(version, tonumber(string.match(last[1], '^%d+')) + 1) end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local created = tonumber(redis.call('HGET', KEYS[1], 'created'))
redis.call('XADD', KEYS[2], version .. '-0', 'e',
  ARGV[4] .. ' ' .. (now - created) .. ' 0 0 0 0')
redis.call('HSET', KEYS[1], 'state', 'over', 'version', version, 'chain', ARGV[3], 'seat', -1,
  'decision', version, 'result', ARGV[5], 'ended', now)
redis.call('ZREM', KEYS[3], ARGV[1])
redis.call('XADD', KEYS[4], '*', 'game', ARGV[1], 'version', version)
notify(game[4], ARGV[6], ARGV[1] .. ' ' .. version, ARGV[7])
return version
