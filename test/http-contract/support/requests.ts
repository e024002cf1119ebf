/** Part of every value of a request; only the response with the created plant may contain it. */
export const MARK = 'Zq7x';

/** Part of numbers of a request, for the same purpose. */
export const NUMBER_MARK = '77177';

/** The token that the service accepts, with every kind of character that a bearer token may have. */
export const TOKEN = `${MARK}.~_-+/gardener9==`;

/** A valid token that permits nothing. */
export const VISITOR_TOKEN = `${MARK}visitor`;

/** The methods of `/plants`: one for each operation. Tests about an unserved method use {@link UNSERVED}. */
export const SERVED: readonly string[] = ['POST'];

/** A method that no operation of `/plants` has. */
export const UNSERVED = 'PUT';

export type FieldValue = string | readonly string[] | undefined;

/** The parts of a request. By default, each is as in a valid create. */
export interface Parts {
  readonly method?: string;
  readonly target?: string;
  readonly version?: string;
  /** Fields by names in lower case. Several values make several fields; `undefined` removes a field. */
  readonly headers?: Readonly<Record<string, FieldValue>>;
  readonly body?: string | Uint8Array;
  /** A body that is sent in chunks; replaces `body`. */
  readonly chunks?: readonly (string | Uint8Array)[];
}

/** The fields of a `body` that is sent as it is, instead of its length. */
export const CHUNKED = { 'content-length': undefined, 'transfer-encoding': 'chunked' };

/** The fields that Java's `HttpClient` sends with the first request of a connection. */
export const JAVA = {
  connection: 'Upgrade, HTTP2-Settings',
  upgrade: 'h2c',
  'http2-settings': 'AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA',
};

const USUAL_FIELDS = {
  host: `${MARK}.example`,
  authorization: `Bearer ${TOKEN}`,
  'content-type': 'application/json',
  'user-agent': MARK,
};

/** Returns the bytes of a request. Without `body` and `chunks`, it has no body. */
export function request(parts: Parts = {}): Buffer {
  const { method = 'POST', target = '/plants', version = 'HTTP/1.1', headers = {} } = parts;
  const { body, chunks } = parts;
  const payload = chunks === undefined ? Buffer.from(body ?? '') : chunked(chunks);
  const framing: Record<string, string> = {};
  if (chunks !== undefined) framing['transfer-encoding'] = 'chunked';
  else if (body !== undefined) framing['content-length'] = `${payload.length}`;
  const lines = Object.entries({ ...USUAL_FIELDS, ...framing, ...headers }).flatMap(
    ([name, value]) => [value ?? []].flat().map((one) => `${name}: ${one}`),
  );
  const head = [`${method} ${target} ${version}`, ...lines, '', ''].join('\r\n');
  return Buffer.concat([Buffer.from(head, 'latin1'), payload]);
}

/** Returns the bytes of a request that creates a new plant, valid unless `parts` make it invalid. */
export function create(parts: Parts = {}): Buffer {
  return request({ body: plantText(), ...parts });
}

/** A request that every service accepts. */
export const LIVEZ = request({ method: 'GET', target: '/livez' });

/** Returns the bytes of a request line and fields, without a body. */
export function headOf(parts: Parts): Buffer {
  const bytes = request(parts);
  return bytes.subarray(0, bytes.indexOf('\r\n\r\n') + 4);
}

/** Returns lines as a request head, for requests that {@link request} cannot make. */
export function lines(...all: string[]): Buffer {
  return Buffer.from([...all, '', ''].join('\r\n'), 'latin1');
}

let lastId = 500_000n;

/** Returns an id that no other request of this run uses. */
export function freshId(): bigint {
  lastId += 1n;
  return lastId;
}

/** Returns the JSON text of a valid NewPlant. `rest` is further text inside the object. */
export function plantText(id: bigint | string = freshId(), rest = ''): string {
  return `{"id":${id},"name":"${MARK} Monstera"${rest === '' ? '' : `,${rest}`}}`;
}

/** Returns the JSON text of a valid NewPlant of this size in bytes. */
export function plantOfSize(size: number): string {
  const base = plantText(freshId(), '"tag":""');
  return base.replace('"tag":""', `"tag":"${'t'.repeat(size - base.length)}"`);
}

/** Returns a body with chunked framing, including the last chunk. */
export function chunked(chunks: readonly (string | Uint8Array)[]): Buffer {
  const parts = chunks.flatMap((chunk) => {
    const bytes = Buffer.from(chunk);
    return [Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')];
  });
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')]);
}
