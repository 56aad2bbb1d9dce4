-- Creates a token, once; the same mark again gives it a fresh secret in place of the first.
--
-- KEYS  1 tokens (sorted set)  2 live tokens (sorted set)  3 token (hash)
-- ARGV  1 mark of the request  2 token id  3 digest of its secret  4 bot, "" for none  5 scopes
--       6 label  7 lifetime in ms, "" for no end  8 how many live tokens there may be
--       9 bell's channel
--
-- Answers "ok", "limit", or "changed" when it has another secret since or works no more.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local before = redis.call('HMGET', KEYS[3], 'mark', 'revoked', 'expires')
if before[1] then
  local ended = before[2] or (before[3] and tonumber(before[3]) <= now)
  if before[1] ~= ARGV[1] or ended then return 'changed' end
  redis.call('HSET', KEYS[3], 'digest', ARGV[3])
  redis.call('PUBLISH', ARGV[9], ARGV[2])
  return 'ok'
end
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
if redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[8]) then return 'limit' end
redis.call('HSET', KEYS[3], 'mark', ARGV[1], 'digest', ARGV[3], 'bot', ARGV[4], 'scopes', ARGV[5],
  'label', ARGV[6], 'created', now)
local expires = '+inf'
if ARGV[7] ~= '' then
  expires = now + tonumber(ARGV[7])
  redis.call('HSET', KEYS[3], 'expires', expires)
end
redis.call('ZADD', KEYS[1], now, ARGV[2])
redis.call('ZADD', KEYS[2], expires, ARGV[2])
return 'ok'
