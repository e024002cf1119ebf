-- What wrk sends, and how it reports.
function init(args)
  left = tonumber(args[2])
  math.randomseed(tonumber(args[3]))
  -- `wrk.format` would send the headers in another order in each run, and V8 compile for each.
  head = "POST /plants HTTP/1.1\r\nHost: " .. wrk.headers["Host"]
    .. "\r\nAuthorization: Bearer " .. args[1]
    .. "\r\nContent-Type: application/json\r\nContent-Length: "
end

function request()
  left = left - 1
  -- The thread stops now. The signal ends the sleep of wrk, which only knows a time; it is ignored in `os.execute`.
  if left == 0 then
    wrk.thread:stop()
    os.execute("(sleep 0.1; kill -INT $PPID) &")
  end
  local id = 1e15 + math.floor(math.random() * 8e15)
  local body = string.format('{"id":%.0f,"name":"Monstera deliciosa","tag":"tropical"}', id)
  return head .. #body .. "\r\n\r\n" .. body
end

function done(summary, latency)
  local errors = summary.errors
  local failed = errors.status + errors.connect + errors.read + errors.write + errors.timeout
  io.write(string.format(
    '\n{"requests":%d,"failed":%d,"seconds":%f,"p50":%f,"p99":%f}\n',
    summary.requests, failed, summary.duration / 1e6,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000
  ))
end
