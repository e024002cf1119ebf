// Creates a plant with a random id: ACCESS_TOKEN=… node create-plant.js http://127.0.0.1:3000 'Monstera deliciosa' body.json
// The file keeps the body until the plant is stored or refused. If it exists, its body is sent, and the name is ignored.
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/** Longer than the deadline of the service, which is 15 s. */
const TIMEOUT_MS = 20_000;
const MAX_ATTEMPTS = 6;
const MAX_RETRY_AFTER_S = 60;
/** Nothing was stored, and the same request can succeed later. */
const NOT_STORED = [4080, 5030, 5032];

if (process.argv.length !== 5 || process.env.ACCESS_TOKEN === undefined) {
  process.stderr.write('usage: ACCESS_TOKEN=… node create-plant.js ADDRESS NAME FILE\n');
  process.exit(2);
}
const [address = '', newName = '', file = ''] = process.argv.slice(2);
/** Whether an earlier run may have sent the body. */
const mayBeSent = existsSync(file);
if (!mayBeSent) saveNewBody();
const { body, name } = savedBody();

/** Saves the body before it is sent: one for all attempts. A template writes all digits of a bigint. */
function saveNewBody(): void {
  const id = randomBytes(8).readBigInt64BE();
  writeFileSync(`${file}.new`, `{"id":${id},"name":${JSON.stringify(newName)}}`);
  renameSync(`${file}.new`, file);
}

function savedBody(): { body: string; name: string } {
  try {
    const body = readFileSync(file, 'utf8');
    const { name } = JSON.parse(body);
    if (typeof name !== 'string') throw new Error('name is not a string');
    return { body, name };
  } catch (cause) {
    const advice = 'To create another plant, remove the file.';
    throw new Error(`${file}: expected a saved body. ${advice}`, { cause });
  }
}

interface Reply {
  readonly status: number;
  /** The `name` in the body: only the service knows it. */
  readonly name: unknown;
  /** The error number. The status when the body has none, as in a response of a proxy. */
  readonly code: number;
  readonly retryAfterMs: number;
}

/** Resolves with `undefined` without a response: no connection, a broken one, a time-out. */
async function send(): Promise<Reply | undefined> {
  try {
    const response = await fetch(`${address}/plants`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${process.env.ACCESS_TOKEN}`,
        'Content-Type': 'application/json',
      },
      body,
      redirect: 'manual', // A redirect can lead to a login page, whose status is 200.
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const { status } = response;
    const { name, error } = membersOf(await response.text());
    const code = typeof error === 'number' ? error : status;
    // A proxy may send a date, which is not a number.
    const seconds = Number(response.headers.get('Retry-After')) || 0;
    const retryAfterMs = Math.min(Math.max(seconds, 0), MAX_RETRY_AFTER_S) * 1_000;
    return { status, name, code, retryAfterMs };
  } catch (error) {
    process.stderr.write(
      `no response: ${error instanceof Error ? (error.cause ?? error) : error}\n`,
    );
    return undefined;
  }
}

/** Returns the members of a JSON object, and none of a body that is something else. */
function membersOf(text: string): { name?: unknown; error?: unknown } {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}

/** Waits for `Retry-After`, and a random time whose limit doubles with each attempt. */
function pause(attempt: number, retryAfterMs: number): Promise<void> {
  const delayMs = retryAfterMs + Math.random() * 100 * 2 ** attempt;
  return new Promise((resolve) => setTimeout(resolve, delayMs));
}

async function createPlant(): Promise<string> {
  let unknown = mayBeSent;
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const reply = await send();
    if (reply === undefined) unknown = true;
    else if (reply.status === 200 && reply.name === name) return 'stored';
    else if (reply.status < 300)
      unknown = true; // A page of a proxy.
    else if (reply.code === 4006 && unknown) return 'stored';
    else if (reply.status !== 429 && !NOT_STORED.includes(reply.code)) {
      if (reply.code === 5000) return 'unknown'; // A bug, which a retry would meet again.
      if (reply.status < 500) return unknown ? 'unknown' : `refused ${reply.code}`;
      unknown = true;
    }
    if (attempt < MAX_ATTEMPTS) await pause(attempt, reply?.retryAfterMs ?? 0);
  }
  return unknown ? 'unknown' : 'not stored';
}

const outcome = await createPlant();
if (outcome === 'stored' || outcome.startsWith('refused')) rmSync(file);
process.stdout.write(`${/-?\d+/.exec(body)} ${outcome}\n`);
process.exitCode = outcome === 'stored' ? 0 : 1;
