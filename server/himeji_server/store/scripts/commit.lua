-- Appends one entry to a game's log and changes the game accordingly, or says why not (compare and
-- set). All keys of a game share one slot.
--
-- KEYS  game (hash), log (stream), timers (sorted set), outbox (stream), index (sorted set)
-- ARGV  entry            the entry without its version and times
--       snapshot         "" for none
--       clock_seat       the seat whose clock runs, -1 for none
--       answered         how many decisions the entry answers: each earns the increment
--       next_seat        the seat that is asked next, -1 for none
--       decision         "new" if next_seat is asked something new, "same" if the open one stays
--       clock_condition  "" for none, "running" or "fallen": what the clock has to be
--       result           "" while the game goes on
--       channel          the prefix of the subscribers' channels
--       stop             why an answer went no further: a number, and for a refusal its words
--       compact_after    milliseconds from the end of a game until it is compacted
--       sender           the process that commits, which needs no notification
--       lost_seat        the seat that this entry loses, -1 for none
--       lost             its end reason and version
--       index_changes    see index.lua; "" unless the game begins or ends
--
-- Returns {"ok", version, now, charged, added, left}
--      or {"missing"}, {"conflict", version}, {"state", state}, {"fallen", left}, {"running", left}.
local game_key, log_key, timers_key, outbox_key, game_index_key = unpack(KEYS)
local game_id, expected_state, expected_version, expected_chain, new_chain, entry, snapshot,
  clock_seat, answered, next_seat, decision, clock_condition, new_state, result, channel, stop,
  compact_after, sender, lost_seat, lost, index_changes = unpack(ARGV)

local state, version, chain, asked, increment, created, left, next_left, next_lost, subscribers =
  unpack(redis.call('HMGET', game_key, 'state', 'version', 'chain', 'asked', 'increment', 'created',
    'left' .. clock_seat, 'left' .. next_seat, 'lost' .. next_seat, 'subscribers'))
if not state then return {'missing'} end
if state ~= expected_state then return {'state', state} end
if version ~= expected_version or chain ~= expected_chain then return {'conflict', version} end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local timed, clock_runs = increment ~= '', clock_seat ~= '-1'
if clock_condition == 'fallen' and not timed then return {'running', 0} end
local charged, added, left_after = 0, 0, 0
if timed and clock_runs then
  left = tonumber(left)
  charged = math.max(0, now - tonumber(asked))
  if clock_condition == 'running' and charged > left then return {'fallen', left - charged} end
  if clock_condition == 'fallen' and charged <= left then return {'running', left - charged} end
  charged = math.min(charged, left) -- a fallen flag takes what was left, and not more
  added = tonumber(increment) * tonumber(answered)
  left_after = left - charged + added
end

local new_version = tonumber(expected_version) + 1
redis.call('XADD', log_key, new_version .. '-0', 'e', table.concat(
  {entry, now - tonumber(created), charged, added, left_after, stop}, ' '))
local fields = {'version', new_version, 'chain', new_chain, 'state', new_state, 'seat', next_seat}
local function set(name, value)
  fields[#fields + 1] = name
  fields[#fields + 1] = value
end
if snapshot ~= '' then set('position', new_version .. ' ' .. snapshot) end
if timed and clock_runs then
  set('left' .. clock_seat, left_after)
  if clock_seat == next_seat then next_left = left_after end
end
if decision == 'new' then
  asked = now
  set('decision', new_version)
  set('asked', now)
end
if expected_state == 'waiting' and new_state == 'playing' then set('started', now) end
if lost_seat ~= '-1' then
  set('lost' .. lost_seat, lost)
  if lost_seat == next_seat then next_lost = lost end
end
if result ~= '' then
  set('result', result)
  set('ended', now)
end
redis.call('HSET', game_key, unpack(fields))

if result ~= '' then
  redis.call('ZADD', timers_key, now + tonumber(compact_after), game_id)
  redis.call('XADD', outbox_key, '*', 'game', game_id, 'version', new_version)
elseif next_seat ~= '-1' and next_lost then
  redis.call('ZADD', timers_key, now, game_id) -- any process may play for the lost seat at once
elseif next_seat ~= '-1' and timed then
  redis.call('ZADD', timers_key, tonumber(asked) + tonumber(next_left), game_id)
else
  redis.call('ZREM', timers_key, game_id)
end
change_index(game_index_key, index_changes, created, game_id)
notify(subscribers, channel, game_id .. ' ' .. new_version, sender)
return {'ok', new_version, now, charged, added, left_after}
