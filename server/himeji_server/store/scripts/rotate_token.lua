-- Gives a token a new secret, once; a repeated request only replaces that secret by a fresh one.
--
-- KEYS  token (hash)
-- ARGV  mark        the request
--       digest      of the new secret
--       old_digest  of the secret that is rotated out
--       overlap     milliseconds for which the old secret keeps working
--       channel     where changes of tokens are published
--
-- Returns "ok", "missing", or "changed" if the token got another secret since or has ended.
local token_key = KEYS[1]
local mark, token_id, digest, old_digest, overlap, channel = unpack(ARGV)

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local mark_before, revoked, expires, digest_before =
  unpack(redis.call('HMGET', token_key, 'mark', 'revoked', 'expires', 'digest'))
if not mark_before then return 'missing' end
if revoked or (expires and tonumber(expires) <= now) then return 'changed' end
if mark_before ~= mark then
  if digest_before ~= old_digest then return 'changed' end
  redis.call('HSET', token_key, 'mark', mark)
  if tonumber(overlap) > 0 then
    redis.call('HSET', token_key, 'before', old_digest, 'overlap', now + tonumber(overlap))
  else
    redis.call('HDEL', token_key, 'before', 'overlap')
  end
end
redis.call('HSET', token_key, 'digest', digest)
redis.call('PUBLISH', channel, token_id)
return 'ok'
