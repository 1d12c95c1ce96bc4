-- Write what is known of a namespace where it is missing; with a recipe, that too, and begin the part of all
-- sites unless it has pages.
-- Returns all that is known, or nothing: for pages that are here nobody can make up their secret.
local format, layout, secret, recipe, parts = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local META = KEYS[14]

local has_pages = redis.call('HLEN', ROWS) > 0
-- The recipe depends on the secret: pages of the own recipe are under the own secret.
local is_own = recipe ~= '' and redis.call('HGET', COUNT, 'recipe') == recipe
if has_pages and not is_own and redis.call('HEXISTS', META, 'secret') == 0 then
    return {}
end
redis.call('HSETNX', META, 'format', format)
redis.call('HSETNX', META, 'layout', layout)
redis.call('HSETNX', META, 'secret', secret)
if recipe ~= '' and redis.call('HGET', META, 'secret') == secret then
    redis.call('HSETNX', META, 'parts:' .. recipe, parts)
    if redis.call('HGET', META, 'layout') == 'site' then
        redis.call('HSETNX', META, 'recipe', recipe)
    elseif is_own or not has_pages then
        redis.call('HSET', META, 'recipe', recipe)
        redis.call('HSET', COUNT, 'recipe', recipe)
    end
end
return redis.call('HGETALL', META)
