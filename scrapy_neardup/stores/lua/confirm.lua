-- What a run committed up to a mark is on its disk. Returns how much more of it there may be.
local run, mark, at_once = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])

local records, done = redis.call('LRANGE', UNCONFIRMED, 0, at_once - 1), 0
for _, record in ipairs(records) do
    if struct.unpack('<I6', record) > mark then
        break
    end
    local number = record:sub(7)
    local row = redis.call('HGET', ROWS, number)
    if row and tail_of(row) == 'u' .. run then
        redis.call('HSET', ROWS, number, row:sub(1, ROW_BYTES))
    end
    done = done + 1
end
redis.call('LTRIM', UNCONFIRMED, done, -1)
return done == at_once and redis.call('LLEN', UNCONFIRMED) or 0
