-- Commits one entry of a game's log, or says why not. Everything of a game lives in one slot.
--
-- KEYS  1 game (hash)  2 log (stream)  3 timers (sorted set)  4 outbox (stream)
-- ARGV  1 game id           2 expected state     3 expected version  4 expected chain
--       5 new chain         6 entry, without its version and times   7 snapshot, "" for none
--       8 seat whose clock runs, -1              9 decisions answered (increments)
--      10 next seat asked, -1 for nobody
--      11 "new" if the next question is a new decision, "same" if the open one stays open
--      12 condition on the clock: "" none, "running" not fallen, "fallen" fallen
--      13 new state        14 result, "" while the game goes on   15 bells' channel
--      16 why an answer went no further, for its receipt: a number, and maybe more in words
--      17 how long after its end a game is made smaller, in ms   18 who rings the bell
--      19... further fields of the game to set, name and value
--
-- Answers {"ok", version, now, charged, added, left}
--      or {"conflict", version}, {"state", state}, {"fallen", left}, {"running", left}.
local game = redis.call('HMGET', KEYS[1], 'state', 'version', 'chain', 'asked', 'increment',
  'created', 'left' .. ARGV[8], 'left' .. ARGV[10], 'lost' .. ARGV[10], 'ears')
if not game[1] then return {'missing'} end
if game[1] ~= ARGV[2] then return {'state', game[1]} end
if game[2] ~= ARGV[3] or game[3] ~= ARGV[4] then return {'conflict', game[2]} end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local timed, clock = game[5] ~= '', ARGV[8] ~= '-1'
if ARGV[12] == 'fallen' and not timed then return {'running', 0} end
local charged, added, left = 0, 0, 0
if timed and clock then
  left = tonumber(game[7])
  charged = math.max(0, now - tonumber(game[4]))
  if ARGV[12] == 'running' and charged > left then return {'fallen', left - charged} end
  if ARGV[12] == 'fallen' and charged <= left then return {'running', left - charged} end
  charged = math.min(charged, left) -- a fallen flag takes what was left, and not more
  added = tonumber(game[5]) * tonumber(ARGV[9])
  left = left - charged + added
end

local version = tonumber(ARGV[3]) + 1
redis.call('XADD', KEYS[2], version .. '-0', 'e', table.concat(
  {ARGV[6], now - tonumber(game[6]), charged, added, left, ARGV[16]}, ' '))
local fields = {'version', version, 'chain', ARGV[5], 'state', ARGV[13], 'seat', ARGV[10],
  unpack(ARGV, 19)}
local function set(name, value)
  fields[#fields + 1] = name
  fields[#fields + 1] = value
end
if ARGV[7] ~= '' then set('position', version .. ' ' .. ARGV[7]) end
local asked, next_left = game[4], game[8]
if timed and clock then
  set('left' .. ARGV[8], left)
  if ARGV[8] == ARGV[10] then next_left = left end
end
if ARGV[11] == 'new' then
  asked = now
  set('decision', version)
  set('asked', now)
end
if ARGV[2] == 'waiting' and ARGV[13] == 'playing' then set('started', now) end
if ARGV[14] ~= '' then
  set('result', ARGV[14])
  set('ended', now)
end
redis.call('HSET', KEYS[1], unpack(fields))

local lost = game[9]
for place = 19, #ARGV, 2 do
  if ARGV[place] == 'lost' .. ARGV[10] then lost = ARGV[place + 1] end
end
if ARGV[14] ~= '' then
  redis.call('ZADD', KEYS[3], now + tonumber(ARGV[17]), ARGV[1])
  redis.call('XADD', KEYS[4], '*', 'game', ARGV[1], 'version', version)
elseif ARGV[10] ~= '-1' and lost then
  redis.call('ZADD', KEYS[3], now, ARGV[1]) -- a stand-in plays at once, whoever sweeps first
elseif ARGV[10] ~= '-1' and timed then
  redis.call('ZADD', KEYS[3], tonumber(asked) + tonumber(next_left), ARGV[1])
else
  redis.call('ZREM', KEYS[3], ARGV[1])
end
notify(game[10], ARGV[15], ARGV[1] .. ' ' .. version, ARGV[18])
return {'ok', version, now, charged, added, left}
