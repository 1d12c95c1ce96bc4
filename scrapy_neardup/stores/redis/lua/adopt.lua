-- The recipe of a namespace and what it was made of; from now on these, where there are no pages.
-- Returns the recipe.
local recipe, parts, is_by_site = ARGV[1], ARGV[2], ARGV[3] == '1'
local META, SITE_NAMES = KEYS[14], KEYS[15]

local kept = redis.call('HGET', META, 'recipe')
local is_empty = redis.call('HLEN', ROWS) == 0
if is_by_site then
    is_empty = redis.call('SCARD', SITE_NAMES) == 0
elseif not is_empty then
    -- Of several that took to an empty namespace, the one with the first page.
    kept = redis.call('HGET', COUNT, 'recipe')
end
if is_empty or not kept then
    kept = recipe
    redis.call('HSET', META, 'parts:' .. recipe, parts)
elseif kept == recipe then
    -- Earlier versions did not write them again to a server that had lost them.
    redis.call('HSETNX', META, 'parts:' .. recipe, parts)
end
redis.call('HSET', META, 'recipe', kept)
return kept
