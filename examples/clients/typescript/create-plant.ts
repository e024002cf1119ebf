// Creates a plant with a random id: ACCESS_TOKEN=… node create-plant.js http://127.0.0.1:3000 'Monstera deliciosa'
import { randomBytes } from 'node:crypto';

/** Longer than the deadline of the service, which is 15 s. */
const TIMEOUT_MS = 20_000;
const MAX_ATTEMPTS = 6;
/** Nothing was stored, and the same request can succeed later. */
const NOT_STORED = [4080, 5030, 5032];

const [address, name] = process.argv.slice(2);
const id = randomBytes(8).readBigInt64BE();
// One body for all attempts. A bigint in a template is its digits.
const body = `{"id":${id},"name":${JSON.stringify(name)}}`;

interface Reply {
  readonly status: number;
  /** The error number; 0 when the body has none, as in a response of a proxy. */
  readonly error: number;
  readonly retryAfterMs: number;
}

async function send(): Promise<Reply | undefined> {
  try {
    const response = await fetch(`${address}/plants`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${process.env.ACCESS_TOKEN}`,
        'Content-Type': 'application/json',
      },
      body,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const retryAfterMs = Number(response.headers.get('Retry-After') ?? 0) * 1_000;
    return { status: response.status, error: errorOf(await response.text()), retryAfterMs };
  } catch {
    return undefined;
  }
}

function errorOf(text: string): number {
  try {
    return JSON.parse(text).error ?? 0;
  } catch {
    return 0;
  }
}

/** Doubles with each attempt, with a random part, and never less than `Retry-After`. */
function pause(attempt: number, retryAfterMs: number): Promise<void> {
  const delayMs = retryAfterMs + Math.random() * 100 * 2 ** attempt;
  return new Promise((resolve) => setTimeout(resolve, delayMs));
}

async function createPlant(): Promise<string> {
  let unknown = false;
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const reply = await send();
    if (reply?.status === 200 || (reply?.error === 4006 && unknown)) return 'stored';
    if (reply === undefined || reply.error === 5031 || (reply.error === 0 && reply.status >= 500)) {
      unknown = true;
    } else if (!NOT_STORED.includes(reply.error)) {
      return unknown ? 'unknown' : `refused ${reply.error || reply.status}`;
    }
    if (attempt < MAX_ATTEMPTS) await pause(attempt, reply?.retryAfterMs ?? 0);
  }
  return unknown ? 'unknown' : 'not stored';
}

const outcome = await createPlant();
process.stdout.write(`${id} ${outcome}\n`);
process.exitCode = outcome === 'stored' ? 0 : 1;
