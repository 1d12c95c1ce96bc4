-- Keep a body within a bound of bytes; the oldest are evicted. An empty one is only removed.
-- Returns the bytes that all bodies take, and how many were evicted.
local BODIES, ORDER, SIZES = KEYS[1], KEYS[2], KEYS[3]
local field, body, bound, overhead = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local n_bytes, n_evicted = tonumber(redis.call('HGET', SIZES, 'bytes') or 0), 0

local function remove_body(name)
    local length = redis.call('HSTRLEN', BODIES, name)
    if length > 0 then
        redis.call('HDEL', BODIES, name)
        redis.call('ZREM', ORDER, name)
        n_bytes = redis.call('HINCRBY', SIZES, 'bytes', -(length + overhead))
    end
end

remove_body(field)
if body == '' then
    return {n_bytes, 0}
end
local size = #body + overhead
if size > bound then
    return {n_bytes, 1}
end
while n_bytes + size > bound do
    local oldest = redis.call('ZRANGE', ORDER, 0, 0)[1]
    if not oldest then
        break
    end
    remove_body(oldest)
    n_evicted = n_evicted + 1
end
redis.call('HSET', BODIES, field, body)
redis.call('ZADD', ORDER, redis.call('HINCRBY', SIZES, 'next', 1), field)
return {redis.call('HINCRBY', SIZES, 'bytes', size), n_evicted}
