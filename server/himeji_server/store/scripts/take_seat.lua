-- Puts a bot on a seat of a game that waits, or says why not.
--
-- KEYS  1 game (hash)  2 timers (sorted set)
-- ARGV  1 game id  2 seats to try in this order, such as "0,1"  3 bot  4 bot version
--       5 entropy  6 request id, "" for none  7 bells' channel
--
-- Answers {"ok", seat, open seats left}, {"again", seat}, {"taken"} or {"state", state}.
local state = redis.call('HGET', KEYS[1], 'state')
if not state then return {'missing'} end
if ARGV[6] ~= '' then
  local before = redis.call('HGET', KEYS[1], 'request:' .. ARGV[6])
  if before then return {'again', tonumber(before)} end
end
if state ~= 'waiting' then return {'state', state} end
local chosen = nil
for seat in string.gmatch(ARGV[2], '%d+') do
  if redis.call('HEXISTS', KEYS[1], 'bot' .. seat) == 0 then
    chosen = seat
    break
  end
end
if not chosen then return {'taken'} end
redis.call('HSET', KEYS[1], 'bot' .. chosen, ARGV[3], 'botversion' .. chosen, ARGV[4],
  'entropy' .. chosen, ARGV[5])
if ARGV[6] ~= '' then redis.call('HSET', KEYS[1], 'request:' .. ARGV[6], chosen) end
local open = 0
for seat = 0, tonumber(redis.call('HGET', KEYS[1], 'seats')) - 1 do
  if redis.call('HEXISTS', KEYS[1], 'bot' .. seat) == 0 then open = open + 1 end
end
if open == 0 then
  local time = redis.call('TIME')
  redis.call('ZADD', KEYS[2], time[1] * 1000 + math.floor(time[2] / 1000), ARGV[1])
end
notify(redis.call('HGET', KEYS[1], 'ears'), ARGV[7], ARGV[1] .. ' 0', '') -- whoever it is, all look
return {'ok', tonumber(chosen), open}
