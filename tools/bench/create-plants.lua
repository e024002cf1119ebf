-- What wrk sends, and how it reports.
function init(args)
  math.randomseed(os.time())
  wrk.method = "POST"
  wrk.headers["Authorization"] = "Bearer " .. args[1]
  wrk.headers["Content-Type"] = "application/json"
end

function request()
  local id = 1e15 + math.floor(math.random() * 8e15)
  local body = string.format('{"id":%.0f,"name":"Monstera deliciosa","tag":"tropical"}', id)
  return wrk.format(nil, "/plants", nil, body)
end

function done(summary, latency)
  local errors = summary.errors
  local failed = errors.status + errors.connect + errors.read + errors.write + errors.timeout
  io.write(string.format(
    '\n{"requests":%d,"failed":%d,"p50":%f,"p99":%f}\n',
    summary.requests, failed,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000
  ))
end
