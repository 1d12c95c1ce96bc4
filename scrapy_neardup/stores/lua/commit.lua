-- Remember a page that was reserved; to say so again does nothing.
-- Returns whether it is there: not, when its run was taken for dead and the reservation ended, or
-- a server that had not heard of it took the place of the one that reserved it, and may have given
-- its number to another page.
local number, run, mark, reserved = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]

local row = redis.call('HGET', ROWS, number)
if not row or row:sub(1, ROW_BYTES) ~= reserved then
    return 0
end
if tail_of(row) == 'r' .. run then
    row = row:sub(1, ROW_BYTES)
    redis.call('HDEL', RESERVED, key_of(row))
    redis.call('SREM', HELD, number)
    settle(number, row, run, mark)
end
return 1
