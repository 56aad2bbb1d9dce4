-- Creates an owner together with a first token, once; a repeated request replaces the secret.
--
-- KEYS  owner (hash), tokens (sorted set), live tokens (sorted set), token (hash)
-- ARGV  mark       the request
--       house      "1" for the house
--       token_id   "" for no token
--       digest     of the token's secret
--       if_unused  "unused" to replace the secret only of a token that was never used, else ""
--
-- Returns "ok", "exists", or "changed" if the token got another secret since or is revoked.
local owner_key, tokens_key, live_tokens_key, token_key = unpack(KEYS)
local mark, display_name, house, token_id, digest, scopes, if_unused = unpack(ARGV)

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local mark_before, deleting = unpack(redis.call('HMGET', owner_key, 'mark', 'deleting'))
if mark_before then
  if mark_before ~= mark or deleting then return 'exists' end
  if token_id == '' then return 'ok' end
  local token_mark, revoked, used = unpack(redis.call('HMGET', token_key, 'mark', 'revoked', 'used'))
  if if_unused == 'unused' and used then return 'exists' end
  if token_mark ~= mark or revoked then return 'changed' end
  redis.call('HSET', token_key, 'digest', digest)
  return 'ok'
end
redis.call('HSET', owner_key, 'mark', mark, 'display', display_name, 'house', house, 'created', now)
if token_id ~= '' then
  redis.call('HSET', token_key, 'mark', mark, 'digest', digest, 'scopes', scopes, 'bot', '',
    'label', '', 'created', now)
  redis.call('ZADD', tokens_key, now, token_id)
  redis.call('ZADD', live_tokens_key, '+inf', token_id)
end
return 'ok'
