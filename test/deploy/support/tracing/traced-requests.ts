import type { RawConnection } from '../../../http-contract/support/raw-connection.js';
import { create, plantText } from '../../../http-contract/support/requests.js';

/** Returns the trace of the request with this index. */
export function traceOf(index: number): string {
  return (index + 1).toString(16).padStart(32, '0');
}

/** Returns the span of its client. */
export function parentOf(index: number): string {
  return (index + 1).toString(16).padStart(16, '0');
}

export function requestIdOf(index: number): string {
  return `traced-${index}`;
}

/** Returns whether the request creates a plant, with the index as its id; otherwise it is refused. */
export function isPlant(index: number): boolean {
  return index % 5 !== 0;
}

/** Returns the bytes of a request with a trace of its own. */
export function tracedCreate(index: number): Buffer {
  const headers = {
    traceparent: `00-${traceOf(index)}-${parentOf(index)}-01`,
    'x-request-id': requestIdOf(index),
  };
  return create({ headers, body: isPlant(index) ? plantText(`${index}`) : '{}' });
}

/** Long, because on a busy machine a response may have to wait for many others. */
const MAX_WAIT_MS = 60_000;

/** Sends all requests at once, and resolves with the statuses. */
export async function inOnePiece(
  connection: RawConnection,
  indexes: readonly number[],
): Promise<number[]> {
  connection.send(Buffer.concat(indexes.map(tracedCreate)));
  const statuses: number[] = [];
  while (statuses.length < indexes.length) statuses.push(await nextStatus(connection));
  return statuses;
}

/** Sends each request after the previous response, and resolves with the statuses. */
export async function oneByOne(
  connection: RawConnection,
  indexes: readonly number[],
): Promise<number[]> {
  const statuses: number[] = [];
  for (const index of indexes) {
    connection.send(tracedCreate(index));
    statuses.push(await nextStatus(connection));
  }
  return statuses;
}

async function nextStatus(connection: RawConnection): Promise<number> {
  return (await connection.response(false, MAX_WAIT_MS)).status;
}
