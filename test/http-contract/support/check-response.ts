import { failures } from '@plant-store/http-operations';
import { expect } from 'chai';
import { expectDescribed } from './described-response.js';
import { fieldValues, type ReceivedResponse } from './raw-connection.js';
import { MARK, NUMBER_MARK } from './requests.js';

/** The status of each error number. A test compares them with docs/errors.md. */
const STATUS: ReadonlyMap<number, number> = new Map(
  Object.values(failures).map(({ error, status }) => [error, status]),
);

/** The errors that a client can cause. */
export const ERRORS_OF_CLIENTS: readonly number[] = [...STATUS.keys()].filter((it) => it < 5000);

const CHALLENGES: Readonly<Record<number, string[]>> = {
  4010: ['Bearer realm="plant-store"'],
  4011: ['Bearer realm="plant-store", error="invalid_token"'],
  4030: ['Bearer realm="plant-store", error="insufficient_scope"'],
};

/** The expectations about one response, in addition to what every response must have. */
export interface Expected {
  /** The expected error, or several possible ones; `undefined` for a 200. */
  readonly error?: number | readonly number[];
  /** Whether the 200 has content other than a created plant. */
  readonly otherContent?: boolean;
  readonly plant?: { readonly name: string; readonly tag?: string };
  /** Whether it is the response to a POST on the operation whose headers were read. */
  readonly toOperation?: boolean;
  readonly toHead?: boolean;
  readonly requestId?: string;
  readonly allow?: readonly string[];
  readonly says?: string | RegExp;
  /** The fields of a NewPlant that the message names, exactly. */
  readonly names?: readonly string[];
  readonly connection?: 'close' | 'keep-alive';
}

/** Checks the rules for every response of the service, and the expectations of a case. */
export function checkResponse(response: ReceivedResponse, expected: Expected): void {
  const { error, toHead, otherContent } = expected;
  const body = response.body.toString();
  const statuses = error === undefined ? [200] : [error].flat().map((one) => STATUS.get(one));
  expect(response.status, body).to.be.oneOf(statuses);
  checkHead(response, expected);
  if (toHead) {
    expect(body).to.equal('');
    return;
  }
  if (error !== undefined) checkError(response, expected);
  else if (!otherContent) checkPlant(JSON.parse(body), expected.plant);
  if (!otherContent) {
    const types = fieldValues(response, 'content-type');
    expect(types).to.deep.equal(['application/json; charset=utf-8']);
    expectDescribed(response);
  }
  const challenges = CHALLENGES[errorOf(response) ?? 0] ?? [];
  expect(fieldValues(response, 'www-authenticate')).to.deep.equal(challenges);
}

/** Returns the error number of a response; `undefined` for a 2xx. */
export function errorOf(response: ReceivedResponse): number | undefined {
  if (response.status < 300) return undefined;
  const { error } = JSON.parse(response.body.toString());
  return error;
}

/** Returns whether a response has `Connection: close`. */
export function saysClose(response: ReceivedResponse): boolean {
  return fieldValues(response, 'connection').some((value) => value.toLowerCase() === 'close');
}

function checkHead(response: ReceivedResponse, expected: Expected): void {
  const { requestId, toOperation, connection, allow } = expected;
  const field = (name: string) => fieldValues(response, name);
  expect(response.version).to.equal('HTTP/1.1');
  for (const name of ['x-powered-by', 'server', 'transfer-encoding']) {
    expect(field(name), name).to.deep.equal([]);
  }
  expect(field('x-request-id'), 'X-Request-Id').to.have.length(1);
  expect(field('x-request-id')[0]).to.match(/^[A-Za-z0-9._-]{1,128}$/);
  if (requestId !== undefined) expect(field('x-request-id')).to.deep.equal([requestId]);
  if (toOperation) expect(field('cache-control'), 'Cache-Control').to.deep.equal(['no-store']);
  if (connection !== undefined) {
    const body = response.body.toString();
    expect(saysClose(response), `closes, with ${body}`).to.equal(connection === 'close');
  }
  const allowed = field('allow').flatMap((value) => value.split(/\s*,\s*/));
  if (response.status === 405) expect(allowed, 'Allow').not.to.deep.equal([]);
  if (allow !== undefined) expect(allowed, 'Allow').to.have.members([...allow]);
  if (response.status === 503) expect(field('retry-after').join()).to.match(/^[1-9]\d*$/);
}

function checkPlant(content: object, plant: Expected['plant']): void {
  if (plant !== undefined) expect(content).to.deep.equal(plant);
  expect(Object.keys(content).join()).to.be.oneOf(['name', 'name,tag', 'tag,name']);
}

function checkError(response: ReceivedResponse, expected: Expected): void {
  const { error, message, ...others } = JSON.parse(response.body.toString());
  expect(others).to.deep.equal({});
  expect(error, message).to.be.oneOf([expected.error].flat());
  expect(response.status).to.equal(STATUS.get(error));
  expect(message).to.match(/^\S[^\r\n]{5,}$/);
  expect(message).not.to.match(/node:|node_modules|\.[jt]s\b|\bat \w+ \(|HPE_|Error\b/);
  expectNoEcho(response);
  if (expected.says instanceof RegExp) expect(message).to.match(expected.says);
  else if (expected.says !== undefined) expect(message).to.equal(expected.says);
  if (expected.names !== undefined) {
    const named = ['id', 'name', 'tag'].filter((it) => new RegExp(`\\b${it}\\b`).test(message));
    expect(named, message).to.deep.equal(expected.names);
  }
}

function expectNoEcho(response: ReceivedResponse): void {
  const shown = response.head.replace(/^x-request-id:.*$/im, '') + response.body.toString('latin1');
  expect(shown.toLowerCase()).not.to.include(MARK.toLowerCase());
  expect(shown).not.to.include(NUMBER_MARK);
}
