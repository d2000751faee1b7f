-- For wrk: a chat request over and over, and the result as one line. Arguments: TOKEN BODY_FILE
function init(args)
    local file = assert(io.open(args[2], "rb"))
    local body = file:read("*a")
    file:close()
    request_text = wrk.format("POST", "/v1/chat/completions", {
        ["Authorization"] = "Bearer " .. args[1],
        ["Content-Type"] = "application/json",
        ["Host"] = wrk.host,
    }, body)
end

function request()
    return request_text
end

function done(summary, latency, requests)
    local e = summary.errors
    print(string.format(
        "RESULT requests=%d seconds=%.6f p50=%.6f p99=%.6f status=%d socket=%d",
        summary.requests, summary.duration / 1e6,
        latency:percentile(50) / 1e6, latency:percentile(99) / 1e6,
        e.status, e.connect + e.read + e.write + e.timeout))
end
