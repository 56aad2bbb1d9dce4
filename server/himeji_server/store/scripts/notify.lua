-- What scripts that change a game begin with: rings at every process that follows it.
--
-- ears     the processes, with spaces between them, or false
-- channel  the beginning of their channels, which are in the slot of the game
-- words    what is said
-- ringer   a process that need not be told, "" for none
local function notify(ears, channel, words, ringer)
  for ear in string.gmatch(ears or '', '%S+') do
    if ear ~= ringer then redis.call('SPUBLISH', channel .. ear, words) end
  end
end
