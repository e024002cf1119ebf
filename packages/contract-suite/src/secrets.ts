import { createHash } from 'node:crypto';
import { expect } from 'chai';

/** The length of the shortest part of a token that must stay secret, in characters. */
export const MIN_PART_LENGTH = 8;

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

/** Returns a token, its parts, and its digests, in each encoding. */
export function secretsOf(token: string): string[] {
  const parts = Array.from(
    { length: Math.max(0, token.length - MIN_PART_LENGTH + 1) },
    (_, start) => token.slice(start, start + MIN_PART_LENGTH),
  );
  return [...parts, ...formsOf(token)];
}

/** Fails when a secret is anywhere in a value: in its text, causes, hidden properties or bytes. */
export function expectNoSecret(value: unknown, secrets: readonly string[]): void {
  const text = textsIn(value).join('\n');
  const found = secrets.findIndex((secret) => text.includes(secret));
  expect(found, `a secret was found in: ${text}`).to.equal(-1);
}

/** Returns every string that can be reached from a value. */
function textsIn(value: unknown, seen = new Set<unknown>()): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value === 'symbol') return [value.description ?? ''];
  if (typeof value !== 'object' || value === null || seen.has(value)) return [];
  seen.add(value);
  if (ArrayBuffer.isView(value)) return [bytesOf(value).toString('latin1')];
  const entries = value instanceof Map || value instanceof Set ? [...value] : [];
  const properties = Reflect.ownKeys(value).flatMap((key) => [key, propertyOf(value, key)]);
  return [textOf(value), ...[...entries, ...properties].flatMap((it) => textsIn(it, seen))];
}

const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView) =>
  Buffer.from(buffer, byteOffset, byteLength);

/** The text of a value such as a `URL`, which keeps it in no property. */
function textOf(value: object): string {
  try {
    return String(value);
  } catch {
    return '';
  }
}

function propertyOf(value: object, key: PropertyKey): unknown {
  try {
    return Reflect.get(value, key);
  } catch {
    return undefined;
  }
}
