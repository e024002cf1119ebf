/** Stands in every value a request carries; no response but a created plant may show it. */
export const MARK = 'Zq7x';

/** Stands in numbers a request carries, for the same purpose. */
export const NUMBER_MARK = '77177';

/** The token the service accepts: it uses every kind of character a bearer token may have. */
export const TOKEN = `${MARK}.~_-+/gardener9==`;

type FieldValue = string | readonly string[] | undefined;

/** A request as data. What is not given is that of a valid create. */
export interface Parts {
  readonly method?: string;
  readonly target?: string;
  readonly version?: string;
  /** By name in lower case: several values make several fields, `undefined` leaves a field out. */
  readonly headers?: Readonly<Record<string, FieldValue>>;
  readonly body?: string | Uint8Array;
  /** Instead of `body`: sent with chunked framing. */
  readonly chunks?: readonly (string | Uint8Array)[];
}

const USUAL_FIELDS = {
  host: `${MARK}.example`,
  authorization: `Bearer ${TOKEN}`,
  'content-type': 'application/json',
  'user-agent': MARK,
};

/** The bytes of a request. Without `body` and `chunks` it has none. */
export function request(parts: Parts = {}): Buffer {
  const { method = 'POST', target = '/plants', version = 'HTTP/1.1', headers = {} } = parts;
  const { framing, payload } = framed(parts);
  const lines = Object.entries({ ...USUAL_FIELDS, ...framing, ...headers }).flatMap(
    ([name, value]) => [value ?? []].flat().map((one) => `${name}: ${one}`),
  );
  const head = [`${method} ${target} ${version}`, ...lines, '', ''].join('\r\n');
  return Buffer.concat([Buffer.from(head, 'latin1'), payload]);
}

/** A request for a plant of its own, valid unless `parts` make it otherwise. */
export function create(parts: Parts = {}): Buffer {
  return request({ body: plantText(), ...parts });
}

/** Request line and fields alone: what follows them is left to the caller. */
export function headOf(parts: Parts): Buffer {
  const bytes = request(parts);
  return bytes.subarray(0, bytes.indexOf('\r\n\r\n') + 4);
}

/** Lines joined and ended as a request head is; for what {@link request} would not write. */
export function lines(...all: string[]): Buffer {
  return Buffer.from([...all, '', ''].join('\r\n'), 'latin1');
}

let lastId = 500_000n;

/** An id that no other request of this run uses, unless it says so. */
export function freshId(): bigint {
  lastId += 1n;
  return lastId;
}

/** JSON text of a valid NewPlant. `rest` is further JSON text inside the object. */
export function plantText(id: bigint | string = freshId(), rest = ''): string {
  return `{"id":${id},"name":"${MARK} Monstera"${rest === '' ? '' : `,${rest}`}}`;
}

/** JSON text of a valid NewPlant of exactly so many bytes. */
export function plantOfSize(size: number): string {
  const base = plantText(freshId(), '"tag":""');
  return base.replace('"tag":""', `"tag":"${'t'.repeat(size - base.length)}"`);
}

/** A body in chunked framing, with its last chunk. */
export function chunked(chunks: readonly (string | Uint8Array)[]): Buffer {
  const parts = chunks.flatMap((chunk) => {
    const bytes = Buffer.from(chunk);
    return [Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')];
  });
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')]);
}

function framed({ body, chunks }: Parts): { framing: Record<string, string>; payload: Buffer } {
  if (chunks !== undefined) {
    return { framing: { 'transfer-encoding': 'chunked' }, payload: chunked(chunks) };
  }
  if (body === undefined) return { framing: {}, payload: Buffer.alloc(0) };
  const payload = Buffer.from(body);
  return { framing: { 'content-length': `${payload.length}` }, payload };
}
