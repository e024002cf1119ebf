import { type ExecFileException, execFile } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { listen } from '@plant-store/faulty-network';
import { findProgram, skipWithout } from '@plant-store/test-servers/programs';
import {
  ACCESS_TOKEN_SHA256,
  endAll,
  serve,
  TOKEN,
} from '@plant-store/test-servers/service-process';
import { expect } from 'chai';
import { root, temporaryFolder } from '../support/root.js';

const run = promisify(execFile);
const clients = join(root, 'examples/clients');

/** The status, the headers and the body of a response that a proxy makes itself. */
type Own = readonly [status: number, headers: Readonly<Record<string, string>>, body: string];

/** What a fake in front of the service does with a request instead of passing it on: an error number, or one of these. */
type Step = number | 'cut after' | 'cut within' | 'crash after' | Own;

const NAME = 'Ficus "elastica" \u{1F33F}';

const JSON_TYPE = { 'Content-Type': 'application/json' };

/** Successes that are not of the service. */
const SUCCESSES: readonly Own[] = [
  [200, {}, '<h1>Back soon</h1>'],
  [200, {}, ''],
  [204, {}, ''],
  [200, JSON_TYPE, '{"status":"ok"}'],
  [200, JSON_TYPE, 'null'],
  [200, JSON_TYPE, '{"name":"a proxy","tag":null}'],
];

const LATER = { 'Retry-After': 'Wed, 21 Oct 2026 07:28:00 GMT' };
const BAD_GATEWAY: Own = [502, LATER, '{"error":"Bad"}'];
const NEGATIVE_PAUSE: Own = [503, { 'Retry-After': '-30' }, ''];
const RATE_LIMIT: Own = [429, { 'Retry-After': '0' }, '<h1>Too Many Requests</h1>'];
const LOGIN_PAGE: Own = [302, { Location: '/login' }, ''];
const UNAVAILABLE = [5030, 5030, 5030, 5030] as const;

/** The steps of the requests of a client, and what comes of them: the number of requests, and what it prints. */
const CASES: Readonly<Record<string, readonly [steps: readonly Step[], result: string]>> = {
  'recognises its own plant in a 4006': [[4080, 5030, 5032, 'cut after'], '5 stored'],
  'does not wait for a negative time': [[NEGATIVE_PAUSE, 4006], '2 stored'],
  // 4290 and 5033 are numbers that no client knows.
  'treats a 5xx with an unknown number as an unknown outcome': [[5033, 4006], '2 stored'],
  'takes no plant for its own after a 429 and a 5030': [[4290, 5030, 4006], '3 refused 4006'],
  'does not repeat a request that meets a bug': [[5000], '1 unknown'],
  'does not repeat a request that cannot succeed': [[4005], '1 refused 4005'],
  'does not follow a redirect': [[LOGIN_PAGE], '1 refused 302'],
  'does not mistake a success of others for the service': [SUCCESSES, '6 unknown'],
  'treats a 200 that is cut off as an unknown outcome': [['cut within'], '2 stored'],
  'reports an unknown outcome': [[5031, BAD_GATEWAY, ...UNAVAILABLE], '6 unknown'],
  'reports that nothing was stored': [[RATE_LIMIT, 5030, ...UNAVAILABLE], '6 not stored'],
};

type Command = readonly [program: string, ...args: string[]];

interface Client {
  readonly language: string;
  /** What it needs and this machine lacks. */
  readonly lack?: string | false;
  /** Resolves with its command. */
  prepare(): Promise<Command>;
}

const CLIENTS: readonly Client[] = [
  {
    language: 'TypeScript',
    prepare: async () => [process.execPath, join(clients, 'typescript/dist/create-plant.js')],
  },
  {
    language: 'Python',
    lack: !findProgram('python3') && 'python3',
    prepare: async () => ['python3', join(clients, 'python/create_plant.py')],
  },
  {
    language: 'Go',
    lack: !findProgram('go') && 'go',
    async prepare() {
      const binary = join(temporaryFolder(), 'create-plant');
      await run('go', ['build', '-o', binary, 'create_plant.go'], { cwd: join(clients, 'go') });
      return [binary];
    },
  },
];

type Printed = Record<'stdout' | 'stderr', string>;

let service: string;

/** A client that runs, with a fake in front of the service that takes the next step for each request. */
class Run {
  /** What was sent, without a newline after it. */
  readonly bodies: string[] = [];
  /** Where the client saves the body. */
  readonly saved = join(temporaryFolder(), 'body.json');
  readonly #steps: Step[];
  #client: ReturnType<typeof run> | undefined;

  constructor(...steps: readonly Step[]) {
    this.#steps = [...steps];
  }

  /** Runs the client, which a step may end. Resolves with what it prints. */
  async start([program, ...args]: Command): Promise<Printed> {
    const front = createServer((request, response) => this.#forward(request, response)).unref();
    const address = `http://127.0.0.1:${await listen(front)}`;
    const env = { ...process.env, ACCESS_TOKEN: TOKEN };
    this.#client = run(program, [...args, address, NAME, this.saved], { env });
    return this.#client.catch((error: ExecFileException) => error) as Promise<Printed>;
  }

  async #forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url !== '/plants') return void response.end('<h1>Log in</h1>');
    const body = await text(request);
    this.bodies.push(body.trimEnd());
    const step = this.#steps.shift();
    if (typeof step === 'number') {
      response.writeHead(Math.floor(step / 10), { 'Retry-After': '0' });
      return void response.end(JSON.stringify({ error: step, message: 'a fake' }));
    }
    if (Array.isArray(step)) {
      const [status, headers, page] = step;
      return void response.writeHead(status, headers).end(page);
    }
    const { authorization = '', 'content-type': type = '' } = request.headers;
    const headers = { authorization, 'content-type': type };
    const reply = await fetch(`${service}/plants`, { method: 'POST', headers, body });
    if (step === 'cut after') return void request.socket.destroy();
    if (step === 'crash after') return void this.#client?.child.kill('SIGKILL');
    const stored = await reply.text();
    if (step === 'cut within') {
      const length = Buffer.byteLength(stored) + 1;
      response.writeHead(reply.status, { ...JSON_TYPE, 'Content-Length': length });
      return void response.write(stored, () => response.destroy());
    }
    response.writeHead(reply.status, JSON_TYPE).end(stored);
  }

  /** Returns the number of requests and the outcome that the client printed, which decides whether the body is kept. */
  resultOf({ stdout, stderr }: Printed): string {
    const [, id = '', outcome = ''] = /^(-?\d+) (.*)\n$/.exec(stdout) ?? [];
    if (outcome === '') return `${this.bodies.length} ${stdout}${stderr}`;
    expect(new Set(this.bodies).size, 'different bodies').to.equal(1);
    expect(this.bodies[0]).to.match(new RegExp(`"id": ?${id},`));
    expect(JSON.parse(this.bodies[0] ?? '')).to.have.property('name', NAME);
    expect(existsSync(this.saved)).to.equal(/^(?:unknown|not stored)$/.test(outcome));
    return `${this.bodies.length} ${outcome}`;
  }
}

describe('The clients of docs/clients.md', function () {
  // The Go compiler needs a minute on a busy machine.
  this.timeout(120_000);

  before(async () => {
    service = (await serve({ ACCESS_TOKEN_SHA256 })).address;
  });
  after(endAll);

  for (const { language, lack, prepare } of CLIENTS) {
    describe(`in ${language}`, () => {
      let command: Command;

      before(async function () {
        if (lack) skipWithout(this, `the client in ${language} needs ${lack}`);
        command = await prepare();
      });

      // All at the same time, because a client waits between its attempts.
      it('reports the outcome of the create, and repeats only what is safe', async () => {
        const results = Object.entries(CASES).map(async ([title, [steps]]) => {
          const run = new Run(...steps);
          return [title, run.resultOf(await run.start(command))] as const;
        });
        const expected = Object.entries(CASES).map(([title, [, result]]) => [title, result]);
        expect(await Promise.all(results)).to.deep.equal(expected);
      });

      it('resends the saved body after a crash, and recognises its own plant', async () => {
        const run = new Run('crash after');
        expect((await run.start(command)).stdout).to.equal('');
        // As an editor does.
        appendFileSync(run.saved, '\n');
        expect(run.resultOf(await run.start(command))).to.equal('2 stored');
      });

      it('sends nothing and keeps the file when the saved body is unreadable', async () => {
        for (const make of [(path: string) => writeFileSync(path, ''), mkdirSync]) {
          const saving = new Run();
          make(saving.saved);
          const { stdout, stderr } = await saving.start(command);
          expect(stdout).to.equal('');
          expect(stderr).to.match(/body\.json: expected a saved body/);
          expect(saving.bodies).to.deep.equal([]);
          expect(existsSync(saving.saved)).to.equal(true);
        }
      });

      it('prints why there was no response', async () => {
        const { stderr } = await new Run('cut after').start(command);
        expect(stderr).to.match(/^(?:.* )?no response: .*\w/m);
      });
    });
  }
});
