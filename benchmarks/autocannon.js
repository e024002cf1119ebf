// The load where wrk is missing: the same creates, reported in the same form as that of create-plants.lua.
import autocannon from 'autocannon';

const [url, token, connections, creates] = process.argv.slice(2);

function setupRequest(request) {
  const id = 1e15 + Math.floor(Math.random() * 8e15);
  return { ...request, body: `{"id":${id},"name":"Monstera deliciosa","tag":"tropical"}` };
}

const { requests, non2xx, errors, duration, latency } = await autocannon({
  url,
  connections: Number(connections),
  amount: Number(creates),
  requests: [
    {
      method: 'POST',
      path: '/plants',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      setupRequest,
    },
  ],
});
const figures = { requests: requests.total, failed: non2xx + errors, seconds: duration };
process.stdout.write(`\n${JSON.stringify({ ...figures, p50: latency.p50, p99: latency.p99 })}\n`);
