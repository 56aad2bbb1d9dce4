-- Creates a token, once; a repeated request replaces the secret.
--
-- KEYS  owner (hash), tokens (sorted set), live tokens (sorted set), token (hash)
-- ARGV  mark      the request
--       digest    of the token's secret
--       bot       "" for none
--       lifetime  in milliseconds, "" for no end
--       max_live  how many live tokens the owner may have
--       channel   where changes of tokens are published
--
-- Returns "ok", "missing" if there is no such owner, "limit", or "changed" if the token got another secret since or has ended.
local owner_key, tokens_key, live_tokens_key, token_key = unpack(KEYS)
local mark, token_id, digest, bot, scopes, label, lifetime, max_live, channel = unpack(ARGV)

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local created, deleting = unpack(redis.call('HMGET', owner_key, 'created', 'deleting'))
if not created or deleting then return 'missing' end
local mark_before, revoked, expires =
  unpack(redis.call('HMGET', token_key, 'mark', 'revoked', 'expires'))
if mark_before then
  local ended = revoked or (expires and tonumber(expires) <= now)
  if mark_before ~= mark or ended then return 'changed' end
  redis.call('HSET', token_key, 'digest', digest)
  redis.call('PUBLISH', channel, token_id)
  return 'ok'
end
redis.call('ZREMRANGEBYSCORE', live_tokens_key, '-inf', now)
if redis.call('ZCARD', live_tokens_key) >= tonumber(max_live) then return 'limit' end
redis.call('HSET', token_key, 'mark', mark, 'digest', digest, 'bot', bot, 'scopes', scopes,
  'label', label, 'created', now)
local live_until = '+inf'
if lifetime ~= '' then
  live_until = now + tonumber(lifetime)
  redis.call('HSET', token_key, 'expires', live_until)
end
redis.call('ZADD', tokens_key, now, token_id)
redis.call('ZADD', live_tokens_key, live_until, token_id)
return 'ok'
