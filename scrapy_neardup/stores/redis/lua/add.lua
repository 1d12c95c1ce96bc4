-- Remember a page without judging it. Returns true, or why it was refused.
local row, page, recipe, run, mark = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])

local refused = refusal(recipe)
if refused then
    return refused
end
-- This run's own reservation of it, which it could not commit when it wanted to.
local held = redis.call('HGET', RESERVED, key_of(row))
if held and held:sub(NUMBER_BYTES + 1, NUMBER_BYTES + 8) == run then
    local number = held:sub(1, NUMBER_BYTES)
    withdraw(number, redis.call('HGET', ROWS, number))
end
settle(enter(row, page, ''), row, run, mark)
return true
