-- Add visits to the histories of their pages in a hash. Each is a page, a time, a change (below 0 for
-- none) and the page that the address leads to (zeros for itself).
local FORMAT, ITSELF = '<I4I4I4I4I4fc8', ('\0'):rep(8)
for place = 1, #ARGV, 4 do
    local page, moved_to = ARGV[place], ARGV[place + 3]
    local seen_at, change = tonumber(ARGV[place + 1]), tonumber(ARGV[place + 2])
    local known = redis.call('HGET', KEYS[1], page)
    local history
    if known then
        local first_at, last_at, visits, changes, changed_at, last = struct.unpack(FORMAT, known)
        if seen_at > last_at then
            if change >= 0 then
                changes, changed_at, last = changes + 1, seen_at, change
            end
            history = {first_at, seen_at, visits + 1, changes, changed_at, last, moved_to}
        end
    elseif moved_to == ITSELF then
        if change >= 0 then
            history = {seen_at, seen_at, 1, 1, seen_at, change, ITSELF}
        else
            history = {seen_at, seen_at, 0, 0, 0, 0, ITSELF}
        end
    end
    if history then
        redis.call('HSET', KEYS[1], page, struct.pack(FORMAT, unpack(history)))
    end
end
