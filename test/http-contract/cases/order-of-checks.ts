import { type Case, creating, exchange, testEach } from '../support/cases.js';
import {
  create,
  freshId,
  MARK,
  type Parts,
  plantText,
  UNSERVED,
  VISITOR_TOKEN,
} from '../support/requests.js';
import { useSharedService } from '../support/service.js';

/** One fault of a request. The lists have the order in which the service checks. */
interface Fault {
  readonly title: string;
  readonly error: number;
  readonly parts: Parts;
}

const HEAD_FAULTS: readonly Fault[] = [
  { title: 'no Host', error: 4000, parts: { headers: { host: undefined } } },
  { title: 'another Expect', error: 4000, parts: { headers: { expect: MARK } } },
  { title: 'an unknown path', error: 4040, parts: { target: `/${MARK}` } },
  { title: 'another method', error: 4050, parts: { method: UNSERVED } },
  { title: 'no credentials', error: 4010, parts: { headers: { authorization: undefined } } },
  {
    title: 'an unknown token',
    error: 4011,
    parts: { headers: { authorization: `Bearer ${MARK}` } },
  },
  {
    title: 'another media type',
    error: 4002,
    parts: { headers: { 'content-type': 'text/plain' } },
  },
  { title: 'a content coding', error: 4002, parts: { headers: { 'content-encoding': 'gzip' } } },
];

const BODY_FAULTS: readonly Fault[] = [
  { title: 'no body', error: 4001, parts: { body: '' } },
  { title: 'a body too large', error: 4003, parts: { body: '{'.repeat(20_000) } },
  { title: 'too large in chunks', error: 4003, parts: { chunks: ['{}'.padEnd(20_000)] } },
  { title: 'a body that is not JSON', error: 4004, parts: { body: '{"id":"1","name":1,}' } },
  { title: 'a body that is not a plant', error: 4005, parts: { body: '{}' } },
];

/** The last check before the plant is stored. */
const NO_PERMISSION: Fault = {
  title: 'no permission',
  error: 4030,
  parts: { headers: { authorization: `Bearer ${VISITOR_TOKEN}` } },
};

describe('The order of checks', () => {
  const service = useSharedService();

  describe('A request with several faults gets the error of the earliest check', () => {
    testEach(
      service,
      BODY_FAULTS.flatMap((body) => [
        ...HEAD_FAULTS.map((fault, at) =>
          inOrder(fault, ...HEAD_FAULTS.slice(at + 1), body, NO_PERMISSION),
        ),
        inOrder(body, NO_PERMISSION),
      ]),
    );

    const id = freshId();
    before(() => exchange(service.port, create({ body: plantText(id) }), {}));
    const taken: [title: string, parts: Parts, error: number][] = [
      ['no permission', NO_PERMISSION.parts, 4030],
      ['a wrong tag', { body: plantText(id, '"tag":null') }, 4005],
    ];
    for (const [title, parts, error] of taken) {
      it(`${title} before an id that is taken`, async () => {
        await exchange(service.port, create({ body: plantText(id), ...parts }), { error });
      });
    }
  });
});

/** A request with these faults. Of two faults of one field, it has the first. */
function inOrder(first: Fault, ...later: Fault[]): Case {
  const title = `${first.title} before ${later.map((it) => it.title).join(', ')}`;
  const all = [first, ...later].map((it) => it.parts).reverse();
  const headers = Object.assign({}, ...all.map((it) => it.headers));
  const parts: Parts = { ...Object.assign({}, ...all), headers };
  const toOperation = parts.method === undefined && parts.target === undefined;
  return creating(title, parts, { error: first.error, toOperation });
}
