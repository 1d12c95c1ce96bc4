-- Reserve a page that was judged by what had a number below `seen`: unless something came since
-- that the judgement should have known. Asked again with the same token, it answers the same.
-- Returns the number; or false for "judge again", 1 for an attempt that was given up, or why it was
-- refused.
local row, page, recipe, token = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local seen, known_then = tonumber(ARGV[5]), ARGV[6]
local most_bits, most_new = tonumber(ARGV[7]), tonumber(ARGV[8])
local GIVEN_UP = KEYS[14]

local key, run = key_of(row), token:sub(1, 8)
local held = redis.call('HGET', RESERVED, key)
if held then
    return held:sub(NUMBER_BYTES + 1) == token and held:sub(1, NUMBER_BYTES)
end
if redis.call('EXISTS', GIVEN_UP) == 1 then
    return 1
end
local refused = refusal(recipe)
if refused then
    return refused
end
local next = tonumber(redis.call('HGET', COUNT, 'next') or 0)
-- Numbers are given again by a server that lost some of what was written.
if known(key) ~= known_then or next < seen or next - seen > most_new then
    return false
end
local is_compared, has_passages = is_read(page), passages_of(page) ~= ''
for number = seen, next - 1 do
    local new = redis.call('HGET', ROWS, packed(number))
    if new and is_compared and was_read(new) and distance(row, new) <= most_bits then
        return false
    end
    local new_page = has_passages and redis.call('HGET', PAGES, packed(number))
    if new_page and share_passage(page, new_page) then
        return false
    end
end
local number = enter(row, page, 'r' .. run)
redis.call('HSET', RESERVED, key, number .. token)
redis.call('SADD', HELD, number)
return number
