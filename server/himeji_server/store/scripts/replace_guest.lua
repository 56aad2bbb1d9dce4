-- Gives the name of a guest to a new token (compare and set).
--
-- KEYS  tokens of guests by name (hash)
-- ARGV  expected: the token that has the name, "" for none
--
-- Returns 1, or 0 if another token has the name, or it is a new name and there are enough.
local guests_key = KEYS[1]
local name, expected, token_id, max_guests = unpack(ARGV)

local before = redis.call('HGET', guests_key, name) or ''
if before ~= expected then return 0 end
if before == '' and redis.call('HLEN', guests_key) >= tonumber(max_guests) then return 0 end
redis.call('HSET', guests_key, name, token_id)
return 1
