"""The Lua scripts of the counters, atomic in Redis 5 and later.


A window is a hash like a record of `windows`: the count of each bucket under its number, `t` the
total, `o` the oldest and `n` the newest bucket. A window of the calendar is a hash like a record of
`calendars`: `t` the total, `s` its start and `e` its end. Instead of a tick it has, as text, the
edges of the windows around the caller's time. Slots are a sorted set of leases by their end. Every
key has a time to live. The clock is the server's, because the clocks of machines may differ; tests
pass another time (`ARGV[1]`).
"""

from __future__ import annotations

from hashlib import sha1

from msgspec import Struct

_COMMON = """
local BUCKETS, MAX = 32, 9007199254740992

local function text(number) return string.format('%.0f', number) end

local function clock(test_time)
  if test_time ~= '' then return tonumber(test_time) end
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000000 + tonumber(time[2])
end

local function keep(key, tick)
  redis.call('PEXPIRE', key, text(math.ceil((BUCKETS + 2) * tick / 1000)))
end

-- The total as of a bucket; expired buckets are deleted.
local function total_of(key, bucket, tick)
  local head = redis.call('HMGET', key, 't', 'o', 'n')
  if not head[1] then return 0 end
  local total, oldest, newest = tonumber(head[1]), tonumber(head[2]), tonumber(head[3])
  if newest > bucket then  -- the clock was set back: all counts move to this bucket
    local at = text(bucket)
    redis.call('DEL', key)
    redis.call('HSET', key, at, head[1], 't', head[1], 'o', at, 'n', at)
    keep(key, tick)
    return total
  end
  if bucket - oldest <= BUCKETS then return total end
  local all, gone = redis.call('HGETALL', key), {}
  oldest = bucket
  for i = 1, #all, 2 do
    local at = tonumber(all[i])
    if at and bucket - at > BUCKETS then
      total = total - tonumber(all[i + 1])
      gone[#gone + 1] = all[i]
    elseif at and at < oldest then
      oldest = at
    end
  end
  if total <= 0 then
    redis.call('DEL', key)
    return 0
  end
  if #gone > 0 then redis.call('HDEL', key, unpack(gone)) end
  redis.call('HSET', key, 't', text(total), 'o', text(oldest))
  return total
end

local function add(key, at, bucket, by, tick)
  if redis.call('HINCRBY', key, text(at), text(by)) == 0 then
    redis.call('HDEL', key, text(at))
  end
  if redis.call('HINCRBY', key, 't', text(by)) == 0 then
    redis.call('DEL', key)
    return
  end
  redis.call('HSETNX', key, 'o', text(at))
  if at == bucket then redis.call('HSET', key, 'n', text(bucket)) end
  redis.call('HSETNX', key, 'n', text(at))
  keep(key, tick)
end

-- The window of the calendar that holds the time.
local function window_of(edges, now)
  local start
  for edge in string.gmatch(edges, '%d+') do
    local stop = tonumber(edge)
    if start and start <= now and now < stop then return start, stop end
    start = stop
  end
end

-- The total in a window of the calendar, its start and its end: `calendars.read`.
local function calendar_of(key, edges, now)
  local start, stop = window_of(edges, now)
  local head = redis.call('HMGET', key, 't', 's', 'e')
  if not head[1] then return 0, start, stop end
  local total, first, last = tonumber(head[1]), tonumber(head[2]), tonumber(head[3])
  if first > stop then return total, start, stop end
  local present = 2 * start <= first + last and first + last < 2 * stop
  if now >= last and not present then return 0, start, stop end
  if present then last = math.max(last, stop) end
  return total, first, last
end

local function set_calendar(key, total, start, stop, now)
  if total == 0 then
    redis.call('DEL', key)
    return
  end
  redis.call('HSET', key, 't', text(total), 's', text(start), 'e', text(stop))
  redis.call('PEXPIRE', key, text(math.ceil((2 * stop - start - now) / 1000)))
end

-- Change the count of a bucket or of a window of the calendar, or release slots.
local function correct(key, unit, at, by, now)
  local tick = tonumber(unit)
  if not tick then
    if not window_of(unit, now) then return end
    local total, start, stop = calendar_of(key, unit, now)
    if start == tonumber(at) or by > 0 then
      set_calendar(key, math.min(math.max(total + by, 0), MAX), start, stop, now)
    end
    return
  end
  if tick == 0 then
    for i = 1, by do redis.call('ZREM', key, at .. ':' .. i) end
    return
  end
  local bucket = math.floor(now / tick)
  local total = total_of(key, bucket, tick)
  at = math.min(tonumber(at), bucket)
  local there = tonumber(redis.call('HGET', key, text(at)) or 0)
  if there == 0 and by > 0 then at = bucket end
  by = math.max(math.min(by, MAX - total), -there)
  if by ~= 0 then add(key, at, bucket, by, tick) end
end

-- The corrections of KEYS[first] and the following; their arguments begin at ARGV[arg].
local function correct_all(first, arg, now)
  -- A server with a full memory refuses HINCRBY, but not after another write.
  if first <= #KEYS and ARGV[arg] ~= '0' then redis.call('HDEL', KEYS[first], '') end
  for i = first, #KEYS do
    correct(KEYS[i], ARGV[arg], ARGV[arg + 1], tonumber(ARGV[arg + 2]), now)
    arg = arg + 3
  end
end
"""

_TAKE = """
local now, lease, lease_us, count = clock(ARGV[1]), ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
correct_all(count + 1, 3 * count + 5, now)

local function limit(i)
  local unit = ARGV[3 * i + 3]
  return KEYS[i], tonumber(ARGV[3 * i + 2]), tonumber(unit) or unit, tonumber(ARGV[3 * i + 4])
end

local function count_of(key, tick)
  if type(tick) == 'string' then return (calendar_of(key, tick, now)) end
  if tick > 0 then return total_of(key, math.floor(now / tick), tick) end
  redis.call('ZREMRANGEBYSCORE', key, '-inf', text(now))
  return redis.call('ZCARD', key)
end

-- Microseconds until the full amount is free, and until `over` is.
local function look(key, tick, over)
  local buckets, all, newest, frees = {}, redis.call('HGETALL', key), nil, nil
  for i = 1, #all, 2 do
    local at = tonumber(all[i])
    if at then buckets[#buckets + 1] = {at, tonumber(all[i + 1])} end
  end
  table.sort(buckets, function(a, b) return a[1] < b[1] end)
  for _, pair in ipairs(buckets) do
    newest, over = pair[1], over - pair[2]
    if over <= 0 and not frees then frees = pair[1] end
  end
  local function free(at) return at and (at + BUCKETS + 1) * tick - now or 0 end
  return free(newest), free(frees)
end

local totals, also, denied = {}, {}, 0
for i = 1, count do
  local key, amount, tick, cost = limit(i)
  if type(tick) == 'string' and not window_of(tick, now) then
    return redis.error_reply('the clock of the server is ' .. text(now) .. ', not in ' .. tick)
  end
  totals[i] = count_of(key, tick)
  if denied == 0 and totals[i] + (also[key] or 0) + math.max(cost, 1) > amount then denied = i end
  also[key] = (also[key] or 0) + cost
end

local answer = {denied}
for i = 1, count do
  local key, amount, tick, cost = limit(i)
  local bucket, total, reset, wait = 0, totals[i], 0, 0
  if type(tick) == 'string' then
    local taken, stop
    taken, bucket, stop = calendar_of(key, tick, now)
    reset = stop - now
    if denied == 0 then
      if taken + cost > 0 then set_calendar(key, taken + cost, bucket, stop, now) end
    elseif math.max(cost, 1) > amount then
      wait = stop - bucket
    elseif total + math.max(cost, 1) > amount then
      wait = reset
    end
  elseif tick > 0 then
    bucket = math.floor(now / tick)
    if denied == 0 and cost > 0 then
      add(key, bucket, bucket, cost, tick)
      reset = (bucket + BUCKETS + 1) * tick - now
    elseif total > 0 then
      local over = total + math.max(cost, 1) - amount
      reset, wait = look(key, tick, over)
      if over <= 0 then wait = 0 end
    end
    if denied > 0 and math.max(cost, 1) > amount then wait = tick * BUCKETS end
  elseif denied == 0 then
    for j = 1, cost do
      redis.call('ZADD', key, text(now + lease_us), lease .. ':' .. i .. ':' .. j)
    end
    redis.call('PEXPIRE', key, text(math.ceil(lease_us / 1000)))
  elseif total + math.max(cost, 1) > amount then
    wait = -1
  end
  if denied == 0 then total = totals[i] + also[key] end
  answer[#answer + 1] = bucket
  answer[#answer + 1] = math.max(amount - total, 0)
  answer[#answer + 1] = reset
  answer[#answer + 1] = wait
end
return answer
"""

_SETTLE = """
correct_all(1, 2, clock(ARGV[1]))
return #KEYS
"""

_RENEW = """
local now, lease_us = clock(ARGV[1]), tonumber(ARGV[2])
-- A server with a full memory refuses ZADD, but not after another write.
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '-inf')
for i = 3, #ARGV do redis.call('ZADD', KEYS[1], text(now + lease_us), ARGV[i]) end
redis.call('PEXPIRE', KEYS[1], text(math.ceil(lease_us / 1000)))
return #ARGV - 2
"""


class Script(Struct, frozen=True):
    """A script and its SHA-1, by which EVALSHA calls it once the server has it."""

    source: str
    sha: str


def _script(source: str) -> Script:
    source = _COMMON + source
    return Script(source, sha1(source.encode(), usedforsecurity=False).hexdigest())


TAKE = _script(_TAKE)
"""KEYS: one for each limit, then those of the corrections. ARGV: clock, name of the lease, its
microseconds, number of limits; amount, tick (0: slots; edges of a calendar) and cost of each; then
as SETTLE. Returns the number of the first limit that denies (0: none), then for each limit its
bucket or the start of its window, what remains, and microseconds to `reset` and `wait` (-1:
unknown)."""

SETTLE = _script(_SETTLE)
"""KEYS: windows and slots. ARGV: clock, then for each window its tick, the bucket of the take and
the change, as in `windows.correct`; for one of a calendar the edges, the start of the window and
the change, as in `calendars.correct`; for slots 0, the lease, and their number."""

RENEW = _script(_RENEW)
"""KEYS: slots. ARGV: clock, microseconds of a lease, the leases to renew."""

DATASET_ID = """
if redis.call('SETNX', KEYS[1], ARGV[1]) == 1 then return ARGV[1] end
return redis.call('GET', KEYS[1])
"""
"""Returns the id of the server's data, after storing the given one if there is none. A different id
than before means that the data was lost. KEYS: the mark of the hash tag. ARGV: a random id."""

SCRIPTS = {script.sha: script for script in (TAKE, SETTLE, RENEW)}
