import { type Case, creating, groups } from '../support/cases.js';
import { MARK, type Parts, plantText, UNSERVED, VISITOR_TOKEN } from '../support/requests.js';
import { useSharedService } from '../support/service.js';

const PERMISSION = { headers: { authorization: `Bearer ${VISITOR_TOKEN}` } };

/** One fault of a request. The lists are in the order in which the service checks. */
type Fault = readonly [title: string, error: number, parts: Parts];

const HEAD_FAULTS: readonly Fault[] = [
  ['no Host', 4000, { headers: { host: undefined } }],
  ['another Expect', 4000, { headers: { expect: MARK } }],
  ['an unknown path', 4040, { target: `/${MARK}` }],
  ['another method', 4050, { method: UNSERVED }],
  ['no credentials', 4010, { headers: { authorization: undefined } }],
  ['an unknown token', 4011, { headers: { authorization: `Bearer ${MARK}` } }],
  ['no permission', 4030, PERMISSION],
  ['another media type', 4002, { headers: { 'content-type': 'text/plain' } }],
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
  groups(useSharedService())(
    'A request with several faults gets the error of the earliest check:',
    ...BODY_FAULTS.flatMap((fault) => [
      ...HEAD_FAULTS.map((head, at) => inOrder(head, ...HEAD_FAULTS.slice(at + 1), fault)),
    ]),
    creating('no error for a valid plant, whose id is then taken', { body }),
    creating('no permission before an id that is taken', { body, ...PERMISSION }, 4030),
    creating('an invalid tag before an id that is taken', { body: withWrongTag }, 4005),
  );
});

/** A request with these faults. Of two faults of one field, it has the first. */
function inOrder(first: Fault, ...later: Fault[]): Case {
  const [name, error] = first;
  const names = later.map(([it]) => it);
  const shown = names.length > 3 ? [`${names[0]} …`, ...names.slice(-2)] : names;
  const title = `${name} before ${shown.join(', ')}`;
  const all = [first, ...later].map(([, , parts]) => parts).reverse();
  const headers = Object.assign({}, ...all.map((it) => it.headers));
  const parts: Parts = { ...Object.assign({}, ...all), headers };
  const toOperation = parts.method === undefined && parts.target === undefined;
  return creating(title, parts, { error, toOperation });
}
