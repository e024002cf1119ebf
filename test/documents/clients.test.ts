import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '@plant-store/test-servers/loopback';
import { needsProgram } from '@plant-store/test-servers/programs';
import { ownProcesses, sha256, TOKEN } from '@plant-store/test-servers/service-process';
import { expect } from 'chai';
import { root, temporaryFolder } from '../support/root.js';
import { Front, JSON_TYPE, type Own, type Step } from './support/front.js';

const { endAll, serve } = ownProcesses();

const run = promisify(execFile);
const drivers = join(root, 'test/documents/clients');
const examples = join(root, 'examples/clients');

/** A token of a client that may not create plants. */
const READER = 'a-reader';

/** What a client has found out. */
interface Result {
  readonly outcome: string;
  readonly error?: number;
  readonly status?: number;
  readonly message?: string;
  readonly requestId?: string;
  /** In seconds. */
  readonly retryAfter?: number;
}

/** A plant. The id is text, because a number is not exact. */
interface JsonPlant {
  readonly id: string;
  readonly name: string;
  readonly tag?: string;
}

interface Job {
  /** Jobs with one key use one client. */
  readonly key: string;
  readonly address: string;
  readonly plant: JsonPlant;
  /** What the token function of the client returns, call by call. Without one, it fails. */
  readonly tokens: readonly string[];
  /** In seconds. */
  readonly retryFor: number;
  readonly timeout: number;
  readonly again?: boolean;
  /** This text is not Unicode, as far as the language can have such a string. */
  readonly malformed?: 'name' | 'tag';
  /** In Go, another transport wraps the default one while the client is made. */
  readonly wrapped?: boolean;
  /** In Go, when the context ends, in seconds. */
  readonly deadline?: number;
  /** The client reports how long it repeats a create and waits for a response unless it is told, in seconds. */
  readonly defaults?: boolean;
  /** In Python, the client is closed after the create. */
  readonly closing?: boolean;
}

const DATE = { 'Retry-After': 'Wed, 21 Oct 2026 07:28:00 GMT' };
const BAD_GATEWAY: Own = [502, DATE, '<h1>Bad Gateway</h1>'];
const NEGATIVE_PAUSE: Own = [503, { ...JSON_TYPE, 'Retry-After': '-30' }, '{"error":"Bad"}'];
const RATE_LIMIT: Own = [429, { 'Retry-After': '0' }, '<h1>Too Many Requests</h1>'];
const LOGIN_PAGE: Own = [302, { Location: '/login' }, ''];
const LATER: Own = [503, { ...JSON_TYPE, 'Retry-After': '30' }, '{"error":5030}'];
const TWO_SECONDS: Own = [503, { ...JSON_TYPE, 'Retry-After': '2' }, '{"error":5032}'];
const NEXT_HOUR: Own = [503, { ...JSON_TYPE, 'Retry-After': '3600' }, '{"error":5030}'];

/** Successes that are not of the service. */
const SUCCESSES: readonly Own[] = [
  [200, {}, '<h1>Back soon</h1>'],
  [200, {}, ''],
  [204, {}, ''],
  [200, JSON_TYPE, '{"status":"ok"}'],
  [200, JSON_TYPE, 'null'],
  [200, JSON_TYPE, '{"name":"a proxy","tag":null}'],
];

const TAKEN = 'PlantIdTakenError';
const UNKNOWN = 'OutcomeUnknownError';
const UNAVAILABLE = 'UnavailableError';
const SOON = { timeout: 1 };

/** The steps of the requests of one create, of which the last is repeated, and its outcome after how many requests. */
const CASES: Readonly<Record<string, readonly [readonly Step[], string, Partial<Job>?]>> = {
  'repeats what was not stored': [[4080, 5030, 5032, RATE_LIMIT, 'pass'], '5 stored'],
  'repeats an unknown outcome': [[5031, BAD_GATEWAY, 'pass'], '3 stored'],
  'recognises its plant when the response is lost': [['cut after', 'pass'], '2 stored'],
  'recognises its plant when the response is cut off': [['cut within', 'pass'], '2 stored'],
  'recognises its plant when the response is late': [['hang after', 'pass'], 'stored', SOON],
  'repeats a request that was lost': [['cut', 'pass'], '2 stored'],
  'gives up an attempt without a response': [['hang', 'pass'], 'stored', SOON],
  'gives up an attempt whose response never ends': [['dribble', 'pass'], 'stored', SOON],
  'treats a 5xx with an unknown number as an unknown outcome': [[5033, 4006], '2 stored'],
  'treats a 5xx of a proxy as an unknown outcome': [[NEGATIVE_PAUSE, 4006], '2 stored'],
  ...Object.fromEntries(
    SUCCESSES.map((own) => [`treats ${own} as an unknown outcome`, [[own, 4006], '2 stored']]),
  ),
  'takes no plant for its own after what was not stored': [
    [RATE_LIMIT, 4080, 5030, 5032, 4006],
    `5 ${TAKEN} 4006`,
  ],
  'does not repeat a request that meets a bug': [[5000], `1 ${UNKNOWN} 5000`],
  'does not repeat an invalid plant': [[4005], '1 InvalidPlantError 4005'],
  'does not repeat a request that cannot succeed': [[4002], '1 RefusedError 4002'],
  'does not follow a redirect': [[LOGIN_PAGE], '1 RefusedError'],
  'knows a proxy by its status': [[[403, {}, '<h1>Forbidden</h1>']], '1 ForbiddenError'],
  'reports a token that is not accepted': [
    ['pass'],
    '1 UnauthorizedError 4011',
    { tokens: ['no'] },
  ],
  'reports a token that permits no create': [
    ['pass'],
    '1 ForbiddenError 4030',
    { tokens: [READER] },
  ],
  'sends no token that would be two headers': [
    ['pass'],
    '0 UnauthorizedError',
    { tokens: [`${TOKEN}\r\n`] },
  ],
  'reports that there is no token': [['pass'], '0 UnauthorizedError', { tokens: [] }],
  'asks for a token each time': [[5030, 'pass'], '2 stored', { tokens: ['expired', TOKEN] }],
  'reports that nothing was stored': [[5030], `${UNAVAILABLE} 5030`, { retryFor: 1 }],
  'reports an unknown outcome': [[BAD_GATEWAY], UNKNOWN, { retryFor: 1 }],
  'keeps an unknown outcome in an outage': [[5031, 5030], `${UNKNOWN} 5030`, { retryFor: 10 }],
  'keeps an unknown outcome after a refusal': [[5031, 4011], `2 ${UNKNOWN} 4011`],
  'takes an id for its own when it creates a plant again': [[4006], '1 stored', { again: true }],
};

let number = 0;

/** A program that uses a client. */
class Driver {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (result: Result) => void>();

  constructor([program, ...args]: Command) {
    this.#child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    const lines = createInterface({ input: this.#child.stdout ?? process.stdin });
    lines.on('line', (line) => {
      const { job, ...result } = JSON.parse(line);
      this.#waiting.get(job)?.(result);
    });
  }

  create(job: Partial<Job> & Pick<Job, 'address'>): Promise<Result> {
    number += 1;
    const usual = { key: `${number}`, tokens: [TOKEN], retryFor: 60, timeout: 20 };
    const all = { ...usual, plant: newPlant(), ...job, number };
    // Some readers of lines end one at a line separator.
    this.#child.stdin?.write(`${JSON.stringify(all).replaceAll('\u2028', '\\u2028')}\n`);
    return new Promise((resolve) => this.#waiting.set(all.number, resolve));
  }

  async end(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    this.#child.stdin?.end();
    await once(this.#child, 'exit');
  }
}

let service: string;

const newPlant = (): JsonPlant => ({
  id: `${randomBytes(8).readBigInt64BE()}`,
  name: 'Ficus "elastica" \u{1F33F}',
});

type Command = readonly [program: string, ...args: string[]];

/** Resolves with the commands of a driver, and of the example. */
type Prepare = () => Promise<Record<'driver' | 'example', Command>>;

/** By language, with the program that it needs. */
const CLIENTS: readonly (readonly [language: string, program: string, Prepare])[] = [
  [
    'JavaScript',
    '',
    async () => ({
      driver: [process.execPath, join(drivers, 'driver.mjs')],
      example: [process.execPath, join(examples, 'javascript/create-plant.js')],
    }),
  ],
  [
    'Python',
    'python3',
    async () => ({
      driver: ['python3', join(drivers, 'driver.py')],
      example: ['python3', join(examples, 'python/create_plant.py')],
    }),
  ],
  [
    'Go',
    'go',
    async () => {
      const folder = temporaryFolder();
      const build = async (name: string, cwd: string, source: string): Promise<Command> => {
        await run('go', ['build', '-o', join(folder, name), source], { cwd });
        return [join(folder, name)];
      };
      return {
        driver: await build('driver', join(drivers, 'go'), '.'),
        example: await build('example', join(examples, 'go'), './create-plant'),
      };
    },
  ],
];

/** Returns the number of requests, if it is certain, and the outcome. */
function summaryOf({ requests }: Front, { outcome, error }: Result, expected: string): string {
  const count = /^\d/.test(expected) ? `${requests.length} ` : '';
  return `${count}${outcome} ${error ?? ''}`.trim();
}

describe('The clients of docs/clients.md', function () {
  this.timeout(120_000);

  before(async () => {
    const ACCESS_TOKENS_FILE = join(temporaryFolder(), 'tokens.txt');
    const lines = [`${sha256(TOKEN)} creator`, `${sha256(READER)} reader [read plants]`];
    writeFileSync(ACCESS_TOKENS_FILE, lines.join('\n'));
    service = (await serve({ ACCESS_TOKENS_FILE })).address;
  });
  after(endAll);

  for (const [language, program, prepare] of CLIENTS) {
    describe(`in ${language}`, () => {
      let driver: Driver | undefined;
      let example: Command;
      const create: Driver['create'] = (job) => (driver as Driver).create(job);

      before(async function () {
        // Without a cache, Go first compiles its standard library.
        this.timeout(600_000);
        if (program) needsProgram(this, program);
        const commands = await prepare();
        example = commands.example;
        driver = new Driver(commands.driver);
      });
      after(() => driver?.end());

      // All at the same time, because a client waits between its attempts.
      it('reports the outcome of a create, and retries only when that is safe', async () => {
        const results = Object.entries(CASES).map(async ([title, [steps, expected, job]]) => {
          const front = new Front(service, ...steps);
          const result = await create({ address: await front.open(), ...job });
          expect(new Set(front.requests.map(({ body }) => body)).size, title).to.be.at.most(1);
          return [title, summaryOf(front, result, expected)];
        });
        const expected = Object.entries(CASES).map(([title, [, result]]) => [title, result]);
        expect(await Promise.all(results)).to.deep.equal(expected);
      });

      it('reports the number, message and request id of a failure', async () => {
        const front = new Front(service, 'pass');
        const address = await front.open();
        const name = 'a'.repeat(20_000);
        const { outcome, ...failure } = await create({ address, plant: { id: '1', name } });
        expect(outcome).to.equal('InvalidPlantError');
        expect(failure).to.deep.equal({ ...front.relayed, retryAfter: 0 });
        expect(failure).to.include({ error: 4003, status: 400 });
        const elsewhere = await create({ address: `${service}/elsewhere/` });
        expect(elsewhere).to.include({ outcome: 'RefusedError', error: 4040, status: 404 });
      });

      it('sends every digit of an id and every character of a text', async () => {
        const front = new Front(service, 'pass');
        const address = await front.open();
        const text = '\u0000 "\\ <&> \u2028 é \u{10FFFF}';
        const ids = ['9007199254740993', '-9223372036854775808', '9223372036854775807'];
        const given = ids.map((id) => ({ id, name: text, tag: id }));
        for (const plant of [...given, { id: '0', name: '', tag: '' }, { id: '-1', name: 'a' }]) {
          // Its id may be taken by another language.
          const { outcome } = await create({ address, plant, again: true });
          expect(outcome).to.equal('stored');
          const sent = front.requests.at(-1)?.body ?? '';
          const [, digits] = /^\{"id": ?(-?\d+),/.exec(sent) ?? [];
          expect({ ...JSON.parse(sent), id: digits }).to.deep.equal(plant);
        }
      });

      it('refuses a name or a tag that is not Unicode', async () => {
        for (const malformed of ['name', 'tag'] as const) {
          const { outcome } = await create({ address: service, malformed });
          expect(outcome, malformed).to.equal('InvalidPlantError');
        }
      });

      it('asks for a pause of at most a minute, whatever Retry-After asks for', async () => {
        const front = new Front(service, NEXT_HOUR);
        const failure = await create({ address: await front.open(), retryFor: 50 });
        expect(failure).to.include({ outcome: UNAVAILABLE, error: 5030, retryAfter: 60 });
        expect(front.requests).to.have.length(1);
      });

      it('reports an address where nothing listens as unavailable', async () => {
        const address = `http://127.0.0.1:${await freePort()}`;
        const { outcome, message } = await create({ address, retryFor: 1 });
        expect(outcome).to.equal(UNAVAILABLE);
        expect(message).to.match(/refused/i);
        const again = await create({ address, retryFor: 1, again: true });
        expect(again.outcome).to.equal(UNKNOWN);
      });

      it('waits as long as Retry-After asks before a retry', async () => {
        const front = new Front(service, TWO_SECONDS, 'pass');
        expect((await create({ address: await front.open() })).outcome).to.equal('stored');
        const [first, second] = front.requests;
        expect((second?.at ?? 0) - (first?.at ?? 0)).to.be.at.least(1_990);
      });

      it('reuses a connection, and does not mistake its end for an unknown outcome', async () => {
        const front = new Front(service, 'pass');
        const job = { key: `reused ${language}`, address: await front.open() };
        for (const tag of ['a', 'b', 'c']) await create({ ...job, plant: { ...newPlant(), tag } });
        expect(front.sockets).to.have.length(1);
        const plant = newPlant();
        expect((await create({ ...job, plant })).outcome).to.equal('stored');
        for (const socket of front.sockets) {
          // Python looks when it sends the next request; the others close in the background.
          const ended = once(socket, language === 'Python' ? 'finish' : 'close');
          socket.end();
          await ended;
        }
        expect((await create({ ...job, plant })).outcome).to.equal(TAKEN);
      });

      it('pauses between retries even if Retry-After is missing or negative', async () => {
        for (const step of [5030, NEGATIVE_PAUSE]) {
          const front = new Front(service, step);
          await create({ address: await front.open(), retryFor: 1 });
          expect(front.requests.length).to.be.at.most(8);
        }
      });

      it('creates many plants at the same time, on as many connections', async () => {
        const front = new Front(service, 'pass');
        const job = { key: `concurrent ${language}`, address: `${await front.open()}/` };
        for (const _ of ['first', 'again']) {
          const results = await Promise.all(Array.from({ length: 50 }, () => create(job)));
          expect(new Set(results.map(({ outcome }) => outcome))).to.deep.equal(new Set(['stored']));
        }
        expect(front.sockets.length).to.be.at.most(50);
      });

      if (language !== 'JavaScript') {
        it('repeats a create for a minute and waits 20 s for a response, unless it is told', async () => {
          const { message } = await create({ address: service, defaults: true });
          expect(message).to.equal('60 20');
        });
      }

      if (language === 'Go') {
        it('ends with its context, which makes the outcome unknown if a request was sent', async () => {
          for (const [step, seconds, expected] of [
            [LATER, 3, `1 ${UNAVAILABLE} 5030`],
            ['hang', 3, `1 ${UNKNOWN}`],
          ] as const) {
            const front = new Front(service, step);
            const result = await create({ address: await front.open(), deadline: seconds });
            expect(summaryOf(front, result, expected)).to.equal(expected);
          }
        });

        it('works in a program that has wrapped the default transport', async () => {
          const job = { key: 'wrapped', address: service, wrapped: true };
          expect(await create(job)).to.include({ outcome: 'stored' });
        });
      }

      if (language === 'Python') {
        it('closes its idle connections at the end of a with statement', async () => {
          const front = new Front(service, 'pass');
          await create({ address: await front.open(), closing: true });
          const [socket] = front.sockets;
          const late = pause(20_000, 'the connection is still open', { ref: false });
          const closed = socket?.closed ? undefined : once(socket as Socket, 'close');
          expect(await Promise.race([closed, late])).not.to.be.a('string');
        });
      }

      it('has an example that stores a plant, or prints why it did not', async () => {
        const [program, ...args] = example;
        const runExample = (token: string) =>
          run(program, [...args, service, 'Monstera'], {
            env: { ...process.env, ACCESS_TOKEN: token },
          });
        expect((await runExample(TOKEN)).stdout).to.match(/^stored -?\d{10,19}\n$/);
        const failure = await runExample(READER).then(
          () => 'stored',
          ({ stderr }) => stderr,
        );
        expect(failure).to.match(/(?:ForbiddenError|permission): .*permi/);
      });
    });
  }
});
