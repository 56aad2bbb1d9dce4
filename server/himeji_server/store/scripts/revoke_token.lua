-- Revokes a token; a second time changes nothing.
--
-- KEYS  token (hash), live tokens (sorted set)
-- ARGV  channel: where changes of tokens are published
--
-- Returns 1, or 0 if there is no such token.
local token_key, live_tokens_key = unpack(KEYS)
local token_id, channel = unpack(ARGV)

if redis.call('EXISTS', token_key) == 0 then return 0 end
local time = redis.call('TIME')
redis.call('HSETNX', token_key, 'revoked', time[1] * 1000 + math.floor(time[2] / 1000))
redis.call('ZREM', live_tokens_key, token_id)
redis.call('PUBLISH', channel, token_id)
return 1
