import { type Case, creating, exchange, testEach } from '../support/cases.js';
import { create, freshId, MARK, type Parts, plantText, UNSERVED } from '../support/requests.js';
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
  { title: 'no bytes in chunks', error: 4001, parts: { chunks: [] } },
  { title: 'a body too large', error: 4003, parts: { body: plantText().padEnd(20_000) } },
  { title: 'too large in chunks', error: 4003, parts: { chunks: [plantText().padEnd(20_000)] } },
  { title: 'a body that is not JSON', error: 4004, parts: { body: '{' } },
  { title: 'a body that is not a plant', error: 4005, parts: { body: '{}' } },
];

describe('The order of checks', () => {
  const service = useSharedService();

  describe('A request with one fault gets its error', () => {
    testEach(
      service,
      [...HEAD_FAULTS, ...BODY_FAULTS].map((fault) => inOrder(fault)),
    );
  });

  describe('A request with two faults gets the error of the earlier check', () => {
    testEach(
      service,
      HEAD_FAULTS.flatMap((fault, at) =>
        [...HEAD_FAULTS.slice(at + 1), ...BODY_FAULTS]
          .filter((later) => later.error !== fault.error && canMeet(fault, later))
          .map((later) => inOrder(fault, later)),
      ),
    );
    testEach(service, [
      creating('too large before not JSON', { body: '{'.repeat(20_000) }, 4003),
      creating('too large before not UTF-8', { body: Buffer.alloc(20_000, 0xff) }, 4003),
      creating('too large before not a plant', { body: '{}'.padEnd(20_000) }, 4003),
      creating('not JSON before not a plant', { body: '{"id":"1","name":1,}' }, 4004),
      creating(
        'not UTF-8 before not a plant',
        { body: Buffer.from('{"id":"\xff"}', 'latin1') },
        4004,
      ),
      creating('a name twice before not a plant', { body: '{"id":"1","id":"1"}' }, 4004),
      creating('too deep before not a plant', { body: '['.repeat(33) + ']'.repeat(33) }, 4004),
      creating('a lone surrogate before not a plant', { body: '{"id":"\\uD800"}' }, 4004),
    ]);

    const id = freshId();
    before(() => exchange(service.port, create({ body: plantText(id) }), {}));
    const taken: [title: string, parts: Parts, error: number][] = [
      ['no credentials', { headers: { authorization: undefined } }, 4010],
      ['another media type', { headers: { 'content-type': 'text/plain' } }, 4002],
      ['too large', { body: plantText(id).padEnd(20_000) }, 4003],
      ['not JSON', { body: `${plantText(id)}}` }, 4004],
      ['not a plant', { body: `{"id":${id},"name":1}` }, 4005],
      ['a wrong tag', { body: plantText(id, '"tag":null') }, 4005],
    ];
    for (const [title, parts, error] of taken) {
      it(`${title} before an id that is taken`, async () => {
        await exchange(service.port, create({ body: plantText(id), ...parts }), { error });
      });
    }
  });
});

function inOrder(first: Fault, ...later: Fault[]): Case {
  const title = [first, ...later].map((it) => it.title).join(' before ');
  const parts = merged(...[first, ...later].map((it) => it.parts));
  const toOperation = parts.method === undefined && parts.target === undefined;
  return creating(title, parts, { error: first.error, toOperation });
}

/** Two faults of the same field cannot be in one request. */
function canMeet(one: Fault, other: Fault): boolean {
  const fields = Object.keys(one.parts.headers ?? {});
  return !fields.some((name) => name in (other.parts.headers ?? {}));
}

function merged(...all: Parts[]): Parts {
  const headers = Object.assign({}, ...all.map((it) => it.headers));
  return { ...Object.assign({}, ...all), headers };
}
