-- Let go of what a dead run reserved, and of what it committed and nobody confirmed.
-- Returns how many committed pages that were, and how much there is left to do.
local run, at_once = ARGV[1], tonumber(ARGV[2])

for _, number in ipairs(redis.call('SPOP', HELD, at_once)) do
    local row = redis.call('HGET', ROWS, number)
    if row and tail_of(row) == 'r' .. run then
        withdraw(number, row)
    end
end
local forgotten = 0
local records = redis.call('LRANGE', UNCONFIRMED, 0, at_once - 1)
redis.call('LTRIM', UNCONFIRMED, at_once, -1)
for _, record in ipairs(records) do
    local number = record:sub(7)
    local row = redis.call('HGET', ROWS, number)
    if row and tail_of(row) == 'u' .. run then
        forget(number)
        forgotten = forgotten + 1
    end
end
return {forgotten, redis.call('SCARD', HELD) + redis.call('LLEN', UNCONFIRMED)}
