-- Remember a page that was reserved; to say so again does nothing.
-- Returns whether it is there: not, when its run was taken for dead and the reservation ended, or
-- a server that had not heard of it took the place of the one that reserved it, and may have given
-- its number to another page.
-- The row was reserved as one, and is committed as another, which says what was stored of the page.
local number, run, mark, reserved, row_now = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5]

local row = redis.call('HGET', ROWS, number)
if not row then
    return 0
end
-- One that was read quickly may have been completed since: it has the same key and time.
local tail = tail_of(row)
if not was_read(reserved) and key_of(row) == key_of(reserved)
    and row:sub(37, 40) == reserved:sub(37, 40) and (tail == '' or tail:sub(2) == run) then
    reserved = row:sub(1, ROW_BYTES)
    row_now = row:sub(1, 40) .. row_now:sub(41, 48) .. row:sub(49, ROW_BYTES)
end
if row:sub(1, ROW_BYTES) ~= reserved and row:sub(1, ROW_BYTES) ~= row_now then
    return 0
end
if tail == 'r' .. run then
    redis.call('HDEL', RESERVED, key_of(row))
    redis.call('SREM', HELD, number)
    settle(number, row_now, run, mark)
end
return 1
