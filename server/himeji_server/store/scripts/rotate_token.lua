-- Gives a token a new secret, once; the same mark again only replaces that secret by a fresh one.
--
-- KEYS  1 token (hash)
-- ARGV  1 mark of the request  2 token id  3 digest of the new secret
--       4 digest of the secret that is rotated out  5 how long that one works on, in ms
--       6 bell's channel
--
-- Answers "ok", "missing", or "changed" when it has another secret since or works no more.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local token = redis.call('HMGET', KEYS[1], 'mark', 'revoked', 'expires', 'digest')
if not token[1] then return 'missing' end
if token[2] or (token[3] and tonumber(token[3]) <= now) then return 'changed' end
if token[1] ~= ARGV[1] then
  if token[4] ~= ARGV[4] then return 'changed' end
  redis.call('HSET', KEYS[1], 'mark', ARGV[1])
  if tonumber(ARGV[5]) > 0 then
    redis.call('HSET', KEYS[1], 'before', ARGV[4], 'overlap', now + tonumber(ARGV[5]))
  else
    redis.call('HDEL', KEYS[1], 'before', 'overlap')
  end
end
redis.call('HSET', KEYS[1], 'digest', ARGV[3])
redis.call('PUBLISH', ARGV[6], ARGV[2])
return 'ok'
