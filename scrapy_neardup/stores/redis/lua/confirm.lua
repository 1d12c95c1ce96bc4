-- What a run committed up to a mark is on its disk. Returns how much more of it there may be.
local run, mark, at_once = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])

local records = redis.call('LRANGE', UNCONFIRMED, 0, at_once - 1)
local done = 0
while done < #records and struct.unpack('<I6', records[done + 1]) <= mark do
    done = done + 1
end
redis.call('LTRIM', UNCONFIRMED, done, -1)
for place = 1, done do
    local number = records[place]:sub(7)
    local row = redis.call('HGET', ROWS, number)
    if row and tail_of(row) == 'u' .. run then
        redis.call('HSET', ROWS, number, row:sub(1, ROW_BYTES))
    end
end
return done == at_once and redis.call('LLEN', UNCONFIRMED) or 0
