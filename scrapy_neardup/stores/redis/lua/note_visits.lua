-- Add visits to the histories of their pages in a hash. Each is a page, a time, a change (below 0 for
-- none) and the page that the address leads to (zeros for itself). A history that was written without the
-- time of a move gets the latest possible one, that of its last visit.
local FORMAT, ITSELF = '<I4I4I4I4I4fc8I4', ('\0'):rep(8)
local OLD_BYTES, LAST_AT = 32, {5, 8}
for place = 1, #ARGV, 4 do
    local page, moved_to = ARGV[place], ARGV[place + 3]
    local seen_at, change = tonumber(ARGV[place + 1]), tonumber(ARGV[place + 2])
    local known = redis.call('HGET', KEYS[1], page)
    local history
    if known then
        if #known == OLD_BYTES then
            known = known .. known:sub(unpack(LAST_AT))
        end
        local first_at, last_at, visits, changes, changed_at, last, led_to, moved_at =
            struct.unpack(FORMAT, known)
        if seen_at > last_at then
            if change >= 0 then
                changes, changed_at, last = changes + 1, seen_at, change
            end
            if moved_to == ITSELF then
                moved_at = 0
            elseif moved_to ~= led_to then
                moved_at = seen_at
            end
            history = {first_at, seen_at, visits + 1, changes, changed_at, last, moved_to, moved_at}
        end
    elseif moved_to == ITSELF then
        if change >= 0 then
            history = {seen_at, seen_at, 1, 1, seen_at, change, ITSELF, 0}
        else
            history = {seen_at, seen_at, 0, 0, 0, 0, ITSELF, 0}
        end
    end
    if history then
        redis.call('HSET', KEYS[1], page, struct.pack(FORMAT, unpack(history)))
    end
end
