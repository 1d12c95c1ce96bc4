-- Put named values into a hash, each in the place of what its name held, or take those away that are
-- empty.
-- One that is new is passed over when there are too many.
local most = tonumber(ARGV[1])
for place = 2, #ARGV, 2 do
    local name, body = ARGV[place], ARGV[place + 1]
    if body == '' then
        redis.call('HDEL', KEYS[1], name)
    elseif redis.call('HLEN', KEYS[1]) < most or redis.call('HEXISTS', KEYS[1], name) == 1 then
        redis.call('HSET', KEYS[1], name, body)
    end
end
