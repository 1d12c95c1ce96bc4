-- Put a page that was read in full in the place of what was read of it quickly, or of that without
-- its passages: then nothing is compared with it any more. Who holds the page, its time and its
-- items stay. Returns whether it was done: not, when the page has become another meanwhile.
local number, before, row_now, page = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

local row = redis.call('HGET', ROWS, number)
if not row or is_read(before) or redis.call('HGET', PAGES, number) ~= before then
    return 0
end
if row_now == '' then
    row_now = row
end
row_now = row_now:sub(1, 36) .. row:sub(37, 48) .. row_now:sub(49, ROW_BYTES) .. tail_of(row)
-- First, because a server whose memory is full refuses a script at its first write.
redis.call('HSET', PAGES, number, page)
redis.call('HSET', ROWS, number, row_now)
if is_read(page) then
    for _, place in ipairs(places(row_now)) do
        append(place, number)
    end
end
if passages_of(page) == '' then
    for _, place in ipairs(passage_places(before)) do
        remove(place, number)
    end
end
return 1
