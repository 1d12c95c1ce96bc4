-- Forget the page that was committed under a key. Was there one?
local number = known(ARGV[1])
if number == '' then
    return 0
end
forget(number)
return 1
