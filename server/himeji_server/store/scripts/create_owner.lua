-- Creates an owner together with a first token, once; the same mark again gives a fresh secret.
--
-- KEYS  1 owner (hash)  2 tokens (sorted set)  3 live tokens (sorted set)  4 token (hash)
-- ARGV  1 mark of the request  2 display name  3 "1" for the house
--       4 token id, "" for no token  5 digest of its secret  6 scopes
--       7 "unused" if a fresh secret is given only while the token was never used, else ""
--
-- Answers "ok", "exists", or "changed" when the token has another secret since or is revoked.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local mark = redis.call('HGET', KEYS[1], 'mark')
if mark then
  if mark ~= ARGV[1] then return 'exists' end
  if ARGV[4] == '' then return 'ok' end
  local token = redis.call('HMGET', KEYS[4], 'mark', 'revoked', 'used')
  if ARGV[7] == 'unused' and token[3] then return 'exists' end
  if token[1] ~= ARGV[1] or token[2] then return 'changed' end
  redis.call('HSET', KEYS[4], 'digest', ARGV[5])
  return 'ok'
end
redis.call('HSET', KEYS[1], 'mark', ARGV[1], 'display', ARGV[2], 'house', ARGV[3], 'created', now)
if ARGV[4] ~= '' then
  redis.call('HSET', KEYS[4], 'mark', ARGV[1], 'digest', ARGV[5], 'scopes', ARGV[6], 'bot', '',
    'label', '', 'created', now)
  redis.call('ZADD', KEYS[2], now, ARGV[4])
  redis.call('ZADD', KEYS[3], '+inf', ARGV[4])
end
return 'ok'
