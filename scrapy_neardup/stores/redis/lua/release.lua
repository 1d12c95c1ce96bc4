-- Give up what a token reserved, if anything. With milliseconds above 0, an attempt with that
-- token that is still on its way gets nothing for so long.
local key, token, milliseconds = ARGV[1], ARGV[2], ARGV[3]
local GIVEN_UP = KEYS[14]

local held = redis.call('HGET', RESERVED, key)
if held and held:sub(NUMBER_BYTES + 1) == token then
    local number = held:sub(1, NUMBER_BYTES)
    withdraw(number, redis.call('HGET', ROWS, number))
end
if tonumber(milliseconds) > 0 then
    redis.call('SET', GIVEN_UP, '', 'PX', milliseconds)
end
return true
