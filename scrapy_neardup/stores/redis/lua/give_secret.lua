-- Set the secret of a namespace unless it has pages. Returns the secret.
local META = KEYS[14]

if redis.call('HLEN', ROWS) == 0 then
    redis.call('HSET', META, 'secret', ARGV[1])
    -- Who signs under the old secret must begin before it writes, and is refused then.
    redis.call('HDEL', COUNT, 'recipe')
end
return redis.call('HGET', META, 'secret')
