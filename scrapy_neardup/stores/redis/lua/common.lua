-- What all scripts begin with. A part of a namespace is a handful of keys, named in one order.
--
-- A number is five bytes, little end first. A row is what stores.codec.ROW describes; after it
-- stands who may still take it back: "r" and a run's id while it is reserved, "u" and the id while
-- nobody knows whether the page is on that run's disk, and nothing from then on. A bucket holds
-- records of eleven bytes: what its field leaves of a digest, and the number.
local COUNT, BLOCK0, BLOCK1, BLOCK2, BLOCK3, KNOWN, RESERVED, ROWS, PAGES, SITES, PASSAGES, HELD,
    UNCONFIRMED = unpack(KEYS)
local ROW_BYTES, NUMBER_BYTES, REST_BYTES, RECORD_BYTES = 96, 5, 6, 11
-- A passage is a hash of eight bytes; a record of it is two bytes shorter than others.
local HASH_BYTES, PASSAGE_FIELDS = 8, 4
-- A packed page begins with a head; if the page was read in full, its sketch stands behind that.
local HEAD_BYTES, SKETCH_BYTES, VALUE_BYTES = 91, 384, 4
-- In a row, of a page of which no item was stored.
local NO_ITEMS = ('\0'):rep(8)
-- So many numbers of a site's newest pages are kept.
local SITE_PAGES = 256

local ONES = {[0] = 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4}

local function packed(number)
    return struct.pack('<I5', number)
end

local function tail_of(row)
    return row:sub(ROW_BYTES + 1)
end

local function key_of(row)
    return row:sub(9, 16)
end

-- Hamming distance of two rows' fingerprints.
local function distance(a, b)
    local bits = 0
    for place = 1, 8 do
        local differing = bit.bxor(a:byte(place), b:byte(place))
        bits = bits + ONES[differing % 16] + ONES[math.floor(differing / 16)]
    end
    return bits
end

-- Where a fingerprint stands: a table, a field and the rest of it, for each of its four blocks.
local function places(row)
    return {
        {BLOCK0, row:sub(1, 2), row:sub(3, 8)},
        {BLOCK1, row:sub(3, 4), row:sub(1, 2) .. row:sub(5, 8)},
        {BLOCK2, row:sub(5, 6), row:sub(1, 4) .. row:sub(7, 8)},
        {BLOCK3, row:sub(7, 8), row:sub(1, 6)},
    }
end

local function key_place(key)
    return {KNOWN, key:sub(1, 2), key:sub(3, 8)}
end

-- The first place from which on a bucket's record starts with these bytes.
local function found_in(bucket, bytes, record_bytes)
    local at = 0
    repeat
        at = bucket:find(bytes, at + 1, true)
    until not at or at % record_bytes == 1
    return at
end

local function append(place, number)
    local bucket = redis.call('HGET', place[1], place[2]) or ''
    redis.call('HSET', place[1], place[2], bucket .. place[3] .. number)
end

local function remove(place, number)
    local bucket = redis.call('HGET', place[1], place[2]) or ''
    local record = place[3] .. number
    local at = found_in(bucket, record, #record)
    if not at then
        return
    end
    bucket = bucket:sub(1, at - 1) .. bucket:sub(at + #record)
    if bucket == '' then
        redis.call('HDEL', place[1], place[2])
    else
        redis.call('HSET', place[1], place[2], bucket)
    end
end

-- Number of the page that was committed under a key's digest, or ''.
local function known(key)
    local place = key_place(key)
    local bucket = redis.call('HGET', place[1], place[2]) or ''
    local at = found_in(bucket, place[3], RECORD_BYTES)
    return at and bucket:sub(at + REST_BYTES, at + RECORD_BYTES - 1) or ''
end

-- Was the page with this row read in full? See stores.codec.was_read.
local function was_read(row)
    return row:sub(25, 28) ~= '\0\0\0\0' or row:sub(33, 36) ~= '\0\0\0\0'
end

local function is_read(page)
    return page:byte(HEAD_BYTES) % 2 == 1
end

-- The hashes of a packed page's passages, one after the other.
local function passages_of(page)
    local values = (page:byte(HEAD_BYTES - 4) + page:byte(HEAD_BYTES - 2)) * VALUE_BYTES
    local before = HEAD_BYTES + values + (is_read(page) and SKETCH_BYTES or 0)
    return page:sub(before + 1, before + page:byte(HEAD_BYTES - 1) * HASH_BYTES)
end

-- Where the passages of a packed page stand, as stores.redis.passages has it.
local function passage_places(page)
    local passages, found = passages_of(page), {}
    for start = 1, #passages, HASH_BYTES do
        local low = string.char(passages:byte(start + 2) % PASSAGE_FIELDS)
        local field = passages:sub(start, start + 1) .. low
        found[#found + 1] = {PASSAGES, field, passages:sub(start + 4, start + 7)}
    end
    return found
end

-- Do two packed pages have a passage in common?
local function share_passage(page, other)
    local passages, others, known = passages_of(page), passages_of(other), {}
    for start = 1, #passages, HASH_BYTES do
        known[passages:sub(start, start + HASH_BYTES - 1)] = true
    end
    for start = 1, #others, HASH_BYTES do
        if known[others:sub(start, start + HASH_BYTES - 1)] then
            return true
        end
    end
    return false
end

-- Give a page a number, under which it is found from now on.
local function enter(row, page, tail)
    local number = packed(redis.call('HINCRBY', COUNT, 'next', 1) - 1)
    if is_read(page) then
        for _, place in ipairs(places(row)) do
            append(place, number)
        end
    end
    for _, place in ipairs(passage_places(page)) do
        append(place, number)
    end
    redis.call('HSET', ROWS, number, row .. tail)
    redis.call('HSET', PAGES, number, page)
    return number
end

-- What is deleted comes first: a server whose memory is full refuses a script only at its first
-- write, and only one that may take room.
local function erase(number, row)
    local page = redis.call('HGET', PAGES, number)
    redis.call('HDEL', ROWS, number)
    redis.call('HDEL', PAGES, number)
    for _, place in ipairs(places(row)) do
        remove(place, number)
    end
    for _, place in ipairs(page and passage_places(page) or {}) do
        remove(place, number)
    end
end

local function has_items(row)
    return row:sub(41, 48) ~= NO_ITEMS
end

-- Let go of a page that was committed.
local function forget(number)
    local row = redis.call('HGET', ROWS, number)
    if row then
        erase(number, row)
        remove(key_place(key_of(row)), number)
        redis.call('HINCRBY', COUNT, 'size', -1)
    end
end

-- Let go of a reservation.
local function withdraw(number, row)
    erase(number, row)
    redis.call('HDEL', RESERVED, key_of(row))
    redis.call('SREM', HELD, number)
end

-- A page that was entered is remembered from now on, in the place of what its address held: unless
-- an item was stored of that, and none of this. With a mark it is not confirmed.
local function settle(number, row, run, mark)
    local key = key_of(row)
    local before = known(key)
    if before ~= '' then
        local old = redis.call('HGET', ROWS, before)
        if old and has_items(old) and not has_items(row) then
            erase(number, row)
            return
        end
        forget(before)
    end
    append(key_place(key), number)
    redis.call('HINCRBY', COUNT, 'size', 1)
    redis.call('HSET', ROWS, number, row .. (mark > 0 and 'u' .. run or ''))
    if mark > 0 then
        redis.call('RPUSH', UNCONFIRMED, struct.pack('<I6', mark) .. number)
    end
    local site = row:sub(17, 20)
    local newest = (redis.call('HGET', SITES, site) or '') .. number
    redis.call('HSET', SITES, site, newest:sub(-SITE_PAGES * NUMBER_BYTES))
end

-- Pages are written into a part that was begun with their recipe alone: who begins it makes sure that
-- the secret and the recipe are known. What is to be answered, if they are not to be written: the recipe
-- of the pages that are here, or nothing where the part has to be begun.
local function refusal(recipe)
    local here = redis.call('HGET', COUNT, 'recipe')
    if here == recipe then
        return nil
    end
    return here and redis.call('HLEN', ROWS) > 0 and {here} or {}
end
