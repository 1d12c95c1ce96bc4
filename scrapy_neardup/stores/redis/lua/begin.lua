-- Let a site's part have pages of a recipe, unless it has pages. What is known of the namespace has been
-- written.
if redis.call('HLEN', ROWS) == 0 then
    redis.call('HSET', COUNT, 'recipe', ARGV[1])
end
