-- For wrk: chat requests, and the result as one line. Arguments: PATH MODEL TOKENS BODY_FILE HEADER...
--
-- No two requests of a connection are alike: the heads are those of OpenAI's Python SDK behind a load
-- balancer (client address and request id differ), the lengths and the tokens differ as well.
local VARIANTS = 509
local texts, turn = {}, 0

function init(args)
    local path, model = args[1], args[2]
    local tokens = {}
    for token in string.gmatch(args[3], "[^,]+") do tokens[#tokens + 1] = token end
    local file = assert(io.open(args[4], "rb"))
    local body = file:read("*a"):gsub('"gpt%-4o"', function() return '"' .. model .. '"' end)
    file:close()
    local more_headers = {}
    for n = 5, #args do
        local name, value = string.match(args[n], "^([^:]+): (.*)$")
        more_headers[name] = value
    end
    for n = 1, VARIANTS do
        local more = string.rep("x", (n * 37) % 251)
        local varied = body:gsub("in verse%.", function() return "in verse. " .. more end)
        local headers = {
            ["Host"] = wrk.host,
            ["Accept-Encoding"] = "gzip, deflate",
            ["Connection"] = "keep-alive",
            ["Authorization"] = "Bearer " .. tokens[n % #tokens + 1],
            ["accept"] = "application/json",
            ["Content-Type"] = "application/json",
            ["user-agent"] = "OpenAI/Python 3.52.0",
            ["x-stainless-lang"] = "python",
            ["x-stainless-package-version"] = "3.52.0",
            ["x-stainless-os"] = "Linux",
            ["x-stainless-arch"] = "x64",
            ["x-stainless-runtime"] = "CPython",
            ["x-stainless-runtime-version"] = "3.11.7",
            ["x-stainless-async"] = "false",
            ["x-stainless-retry-count"] = "0",
            ["x-stainless-read-timeout"] = "600",
            ["X-Forwarded-For"] = string.format("10.%d.%d.7", n % 256, (n * 7) % 256),
            ["X-Request-Id"] = string.format("%08x-%024x", n * 2654435761 % 4294967296, n),
        }
        for name, value in pairs(more_headers) do headers[name] = value end
        texts[n] = wrk.format("POST", path, headers, varied)
    end
end

function request()
    turn = turn % VARIANTS + 1
    return texts[turn]
end

function done(summary, latency, requests)
    local e = summary.errors
    print(string.format(
        "RESULT requests=%d seconds=%.6f p50=%.6f p99=%.6f p99.9=%.6f status=%d socket=%d",
        summary.requests, summary.duration / 1e6,
        latency:percentile(50) / 1e6, latency:percentile(99) / 1e6, latency:percentile(99.9) / 1e6,
        e.status, e.connect + e.read + e.write + e.timeout))
end
