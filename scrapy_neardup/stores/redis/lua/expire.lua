-- Forget those of these pages that were stored before a time, in seconds. Returns how many.
local oldest, forgotten = tonumber(ARGV[1]), 0
for place = 2, #ARGV do
    local row = redis.call('HGET', ROWS, ARGV[place])
    local is_reserved = row and tail_of(row):sub(1, 1) == 'r'
    if row and not is_reserved and struct.unpack('<I4', row:sub(37, 40)) < oldest then
        forget(ARGV[place])
        forgotten = forgotten + 1
    end
end
return forgotten
