-- Stores the plan of a request under its idempotency key, unless the key has a plan already.
--
-- KEYS  plan (string)
--
-- Returns the plan that is stored: that of the first request.
local plan_key = KEYS[1]
local plan, seconds = unpack(ARGV)

local before = redis.call('GET', plan_key)
if before then return before end
redis.call('SET', plan_key, plan, 'EX', seconds)
return plan
