import { expect } from 'chai';
import { checkResponse, type Expected, saysClose } from './check-response.js';
import { RawConnection } from './raw-connection.js';
import { create, type FieldValue, LIVEZ, type Parts, plantText, request } from './requests.js';

/** One request and the response it must get. */
export interface Case {
  readonly title: string;
  readonly bytes: Uint8Array;
  readonly expected: Expected;
}

/** Expectations, or only the number of the error. */
type Expectation = Expected | number;

const BODY_WAS_READ = new Set<unknown>([undefined, 4001, 4004, 4005, 4006]);

/** Returns a case of any bytes. */
export function sending(title: string, bytes: Uint8Array, expectation: Expectation): Case {
  return { title, bytes, expected: expectedBy(expectation) };
}

/** Returns a case that creates a plant. `parts` are its differences from a valid request. */
export function creating(title: string, parts: Parts, expectation: Expectation = {}): Case {
  const given = expectedBy(expectation);
  const usual: Expected = BODY_WAS_READ.has(given.error) ? { connection: 'keep-alive' } : {};
  return { title, bytes: create(parts), expected: { toOperation: true, ...usual, ...given } };
}

/** Returns a text for a title: the whole text, or the beginning and the length of a long one. */
export function short(text: string): string {
  return text.length > 80 ? `${text.slice(0, 40)}… of ${text.length} characters` : text;
}

/** Returns the value of a field for a title. */
export function shown(value: FieldValue): string {
  return JSON.stringify(value, (_, it) => (typeof it === 'string' ? short(it) : it));
}

/** Returns cases of creating a plant that differ in the value of one field. */
export function creatingWith(
  name: string,
  values: readonly FieldValue[],
  expectation?: Expectation,
  parts: Parts = {},
): Case[] {
  return values.map((value) => {
    const title = value === undefined ? `no ${name}` : `${name}: ${shown(value)}`;
    const headers = { ...parts.headers, [name]: value };
    return creating(title, { ...parts, headers }, expectation);
  });
}

/** Returns a case of a request without a body. */
export function asking(title: string, parts: Parts, expectation: Expectation): Case {
  const expected = { toHead: parts.method === 'HEAD', ...expectedBy(expectation) };
  return { title, bytes: request({ method: 'GET', ...parts }), expected };
}

/** Returns how to declare a test for each case. A connection serves the next case, or ends after `Connection: close`. */
export function groups(service: () => { readonly port: number }) {
  return (title: string, ...cases: readonly Case[]) =>
    describe(title, () => {
      let kept: RawConnection | undefined;
      for (const { title, bytes, expected } of cases) {
        it(title, async () => {
          const connection = kept ?? (await RawConnection.open(service().port));
          kept = undefined;
          if (saysClose(await exchangeOn(connection, bytes, expected))) connection.socket.destroy();
          else kept = connection;
        });
      }
      after(async () => {
        if (kept !== undefined) await expectService(kept);
        kept?.socket.destroy();
      });
    });
}

/** Checks the response on a new connection, which then serves another request, or ends after `Connection: close`. */
export async function exchange(port: number, bytes: Uint8Array, expectation: Expectation = {}) {
  using connection = await RawConnection.open(port);
  const response = await exchangeOn(connection, bytes, expectedBy(expectation));
  if (!saysClose(response)) await expectService(connection);
  return response;
}

/** Sends everything together. Resolves with the responses until the service ends the connection. */
export async function responsesTo(port: number, ...bytes: Uint8Array[]) {
  using connection = await RawConnection.open(port);
  connection.send(Buffer.concat(bytes));
  return await connection.responsesUntilEnd();
}

/** Checks that the plant was not created: its id is still free. */
export async function expectFree(port: number, id: bigint): Promise<void> {
  await exchange(port, create({ body: plantText(id) }));
}

async function exchangeOn(connection: RawConnection, bytes: Uint8Array, expected: Expected) {
  connection.send(bytes);
  const response = await connection.response(expected.toHead);
  checkResponse(response, expected);
  if (saysClose(response)) await expectEnd(connection);
  return response;
}

/** Checks that the service ends the connection in order and sends nothing more. */
export async function expectEnd(connection: RawConnection): Promise<void> {
  expect(await connection.ending()).to.deep.equal({ by: 'end', rest: '' });
}

/** Checks that the connection serves another request. */
export async function expectService(connection: RawConnection): Promise<void> {
  connection.send(LIVEZ);
  checkResponse(await connection.response(), { otherContent: true });
}

function expectedBy(expectation: Expectation): Expected {
  return typeof expectation === 'number' ? { error: expectation } : expectation;
}
