import { createHash } from 'node:crypto';
import { fail } from './fail.js';

const ENCODINGS = ['hex', 'base64', 'base64url'] as const;

/** Returns a secret and its digests, in each encoding. */
export function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const digests = ['sha256', 'sha512', 'sha1', 'md5'].map((algorithm) =>
    createHash(algorithm).update(bytes).digest(),
  );
  const encoded = [bytes, ...digests].flatMap((it) => ENCODINGS.map((name) => it.toString(name)));
  const inForm = new URLSearchParams({ secret }).toString().slice('secret='.length);
  return [secret, encodeURIComponent(secret.toWellFormed()), inForm, ...encoded];
}

/** Fails when a secret is anywhere in a value, which `what` names: in its text, causes, hidden properties or bytes. */
export function expectNoSecret(value: unknown, secrets: readonly string[], what = 'it'): void {
  const texts = [...textsIn(value, what)];
  const all = texts.map(([, text]) => text).join('\n');
  const secret = secrets.find((it) => all.includes(it));
  if (secret === undefined) return;
  const found = texts.filter(([, text]) => text.includes(secret));
  const [[path, text] = [what, all]] = found.sort(([, a], [, b]) => a.length - b.length);
  fail(`${path} reveals ${JSON.stringify(secret)}: ${JSON.stringify(text)}`);
}

/** Every string that can be reached from a value, after its path, such as `the error.cause.message`. */
function* textsIn(
  value: unknown,
  path: string,
  seen = new Set<unknown>(),
): Generator<readonly [path: string, text: string]> {
  if (typeof value === 'string') yield [path, value];
  if (typeof value === 'symbol') yield [path, value.description ?? ''];
  if (typeof value !== 'object' || value === null || seen.has(value)) return;
  seen.add(value);
  if (ArrayBuffer.isView(value)) {
    const { buffer, byteOffset, byteLength } = value;
    return yield [path, Buffer.from(buffer, byteOffset, byteLength).toString('latin1')];
  }
  // A value such as a `URL` keeps its text in no property.
  yield [path, attempt(() => String(value)) ?? ''];
  for (const key of Reflect.ownKeys(value)) {
    yield* textsIn(key, `${path}, a key`);
    const property = attempt(() => Reflect.get(value, key));
    yield* textsIn(property, `${path}.${String(key)}`, seen);
  }
  if (!(value instanceof Map || value instanceof Set)) return;
  for (const entry of value) yield* textsIn(entry, `${path}, an entry`, seen);
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
