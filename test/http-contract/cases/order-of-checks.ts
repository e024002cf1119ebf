import { type Case, creating, groups } from '../support/cases.js';
import { MARK, type Parts, plantText, UNSERVED, VISITOR_TOKEN } from '../support/requests.js';
import { useSharedService } from '../support/service.js';

const PERMISSION = { headers: { authorization: `Bearer ${VISITOR_TOKEN}` } };

/** One fault of a request. The lists are in the order in which the service checks. */
type Fault = readonly [title: string, error: number, parts: Parts];

const HEAD_FAULTS: readonly Fault[] = [
  ['no Host', 4000, { headers: { host: undefined } }],
  ['an Expect other than 100-continue', 4000, { headers: { expect: MARK } }],
  ['an unknown path', 4040, { target: `/${MARK}` }],
  ['a method that is not allowed', 4050, { method: UNSERVED }],
  ['no credentials', 4010, { headers: { authorization: undefined } }],
  ['an unknown token', 4011, { headers: { authorization: `Bearer ${MARK}` } }],
  ['no permission', 4030, PERMISSION],
  ['a media type other than JSON', 4002, { headers: { 'content-type': 'text/plain' } }],
  ['no media type', 4002, { headers: { 'content-type': undefined } }],
  ['a content coding', 4002, { headers: { 'content-encoding': 'gzip' } }],
];

const BODY_FAULTS: readonly Fault[] = [
  ['no body', 4001, { body: '' }],
  ['no body and no length', 4001, { body: '', headers: { 'content-length': undefined } }],
  ['a body too large', 4003, { body: '{'.repeat(20_000) }],
  ['chunks too large', 4003, { chunks: ['{}'.padEnd(20_000)] }],
  ['a body that is not JSON', 4004, { body: '{"id":"1","name":1,}' }],
  ['a body that is not a plant', 4005, { body: '{}' }],
];

describe('The order of checks', () => {
  const body = plantText();
  const withWrongTag = body.replace('}', ',"tag":null}');
  const group = groups(useSharedService());
  group(
    'A request with several faults gets the error of the first:',
    ...BODY_FAULTS.flatMap((fault) => [
      ...HEAD_FAULTS.map((head, at) => inOrder(head, ...HEAD_FAULTS.slice(at + 1), fault)),
    ]),
  );
  group(
    'Whether the id is taken is checked last:',
    creating('a valid plant takes the id', { body }),
    creating('the same id without permission gets a 4030', { body, ...PERMISSION }, 4030),
    creating('the same id with an invalid tag gets a 4005', { body: withWrongTag }, 4005),
  );
});

/** A request with these faults. Of two faults of one field, it has the first. */
function inOrder(first: Fault, ...later: Fault[]): Case {
  const [name, error] = first;
  const last = later.at(-1)?.[0];
  const others = later.length > 1 ? `${later.length} other faults (last: ${last})` : last;
  const title = `${error} for ${name}, before ${others}`;
  const all = [first, ...later].map(([, , parts]) => parts).reverse();
  const headers = Object.assign({}, ...all.map((it) => it.headers));
  const parts: Parts = { ...Object.assign({}, ...all), headers };
  const toOperation = parts.method === undefined && parts.target === undefined;
  return creating(title, parts, { error, toOperation });
}
