// Reads jobs from standard input, one a line, and writes their results: see clients.test.ts.
import { createInterface } from 'node:readline';
import * as library from '../../../examples/clients/javascript/plant-store-client.js';

/** One client for each key, as in a program that creates several plants. */
const clients = new Map();

function clientOf({ key, address, tokens, retryFor, timeout }) {
  const left = [...tokens];
  const token = () => {
    if (tokens.length === 0) throw new Error('no token today');
    return left.length > 1 ? left.shift() : left[0];
  };
  const options = { retryForMs: retryFor * 1_000, timeoutMs: timeout * 1_000 };
  if (!clients.has(key)) clients.set(key, new library.PlantStoreClient(address, token, options));
  return clients.get(key);
}

async function resultOf(job) {
  const { id, name, tag } = job.plant;
  const plant = { id: BigInt(id), name, tag, ...(job.malformed && { [job.malformed]: '\ud800' }) };
  const client = clientOf(job);
  try {
    await (job.again ? client.createAgain(plant) : client.create(plant));
    return { outcome: 'stored' };
  } catch (failure) {
    if (!(failure instanceof library.PlantStoreError)) throw failure;
    const { name: outcome, error, status, message, requestId, retryAfterMs } = failure;
    return { outcome, error, status, message, requestId, retryAfter: retryAfterMs / 1_000 };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const job = JSON.parse(line);
  resultOf(job).then((result) =>
    process.stdout.write(`${JSON.stringify({ job: job.number, ...result })}\n`),
  );
}
