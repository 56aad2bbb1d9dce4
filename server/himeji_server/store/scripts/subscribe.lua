-- Adds a process to the subscribers of a game, or removes it.
--
-- KEYS  game (hash)
-- ARGV  subscribed: "1" to add the process, "0" to remove it
--
-- A game that is over has no subscribers: nothing changes any more.
local game_key = KEYS[1]
local process, subscribed = unpack(ARGV)

local state, before = unpack(redis.call('HMGET', game_key, 'state', 'subscribers'))
if not state or state == 'over' then return end
local subscribers, found = {}, false
for each in string.gmatch(before or '', '%S+') do
  found = found or each == process
  if each ~= process then subscribers[#subscribers + 1] = each end
end
if found == (subscribed == '1') then return end
if subscribed == '1' then
  subscribers[#subscribers + 1] = process
  -- The oldest is most likely gone; a process that lives polls, and subscribes again.
  if #subscribers > 32 then table.remove(subscribers, 1) end
end
if #subscribers == 0 then
  redis.call('HDEL', game_key, 'subscribers')
else
  redis.call('HSET', game_key, 'subscribers', table.concat(subscribers, ' '))
end
