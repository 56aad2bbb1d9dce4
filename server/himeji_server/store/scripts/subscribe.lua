-- Has the bells of a game rung at a process from now on, or no more.
--
-- KEYS  1 game (hash)
-- ARGV  1 process  2 "1" to ring there, "0" not to
--
-- Nothing is rung after the end of a game.
local game = redis.call('HMGET', KEYS[1], 'state', 'ears')
if not game[1] or game[1] == 'over' then return end
local ears, listens = {}, false
for ear in string.gmatch(game[2] or '', '%S+') do
  listens = listens or ear == ARGV[1]
  if ear ~= ARGV[1] then ears[#ears + 1] = ear end
end
if listens == (ARGV[2] == '1') then return end
if ARGV[2] == '1' then
  ears[#ears + 1] = ARGV[1]
  if #ears > 32 then table.remove(ears, 1) end -- who lives and is left out says so again
end
if #ears == 0 then
  redis.call('HDEL', KEYS[1], 'ears')
else
  redis.call('HSET', KEYS[1], 'ears', table.concat(ears, ' '))
end
