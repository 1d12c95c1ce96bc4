-- The recipe of a namespace and what it was made of; from now on these, where there are no pages.
local recipe, parts, is_by_site = ARGV[1], ARGV[2], ARGV[3] == '1'
local META, SITE_NAMES = KEYS[13], KEYS[14]

local is_empty = redis.call('HLEN', ROWS) == 0
if is_by_site then
    is_empty = redis.call('SCARD', SITE_NAMES) == 0
end
if is_empty or not redis.call('HGET', META, 'recipe') then
    redis.call('HSET', META, 'recipe', recipe, 'parts', parts)
end
return redis.call('HMGET', META, 'recipe', 'parts')
