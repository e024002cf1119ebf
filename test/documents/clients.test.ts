import { type ExecFileException, execFile } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { findProgram, skipWithout } from '@plant-store/programs';
import { ACCESS_TOKEN_SHA256, endAll, serve, TOKEN } from '@plant-store/service-process';
import { expect } from 'chai';
import { root, temporaryFolder } from '../root.js';

const run = promisify(execFile);
const clients = join(root, 'examples/clients');

/** The compiler and the JSON library that `.ci/kotlinc` fetches. */
const kotlin = join(root, '.cache/kotlinc');

/** Programs that run for a second: the JVM must not spend it on optimising them. */
const SHORT_LIVED = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xshare:auto'];

/** What the fake in front of the service does with a request: an error number, or one of these. */
type Step = number | 'cut after' | 'cut within' | 'crash after' | 'pass on' | ProxyResponse;

const NAME = 'Ficus "elastica" \u{1F33F}';

const JSON_TYPE = { 'Content-Type': 'application/json' };

/** Successes that are not of the service. */
const SUCCESSES = {
  'maintenance page': [200, {}, '<h1>Back soon</h1>'],
  'empty page': [200, {}, ''],
  'no content': [204, {}, ''],
  'health of a proxy': [200, JSON_TYPE, '{"status":"ok"}'],
  'JSON that is no object': [200, JSON_TYPE, 'null'],
  'another name': [200, JSON_TYPE, '{"name":"a proxy","tag":null}'],
} as const;

/** Responses that a proxy makes itself. */
const PROXY_RESPONSES = {
  ...SUCCESSES,
  'bad gateway': [502, { 'Retry-After': 'Wed, 21 Oct 2026 07:28:00 GMT' }, '{"error":"Bad"}'],
  'negative pause': [503, { 'Retry-After': '-30' }, ''],
  'rate limit': [429, { 'Retry-After': '0' }, '<h1>Too Many Requests</h1>'],
  'redirect to a login page': [302, { Location: '/login' }, ''],
} as const;
type ProxyResponse = keyof typeof PROXY_RESPONSES;
const successes = Object.keys(SUCCESSES) as ProxyResponse[];

const UNAVAILABLE = [5030, 5030, 5030, 5030] as const;

/** The steps of the requests of a client, and what comes of them: the number of requests, and what it prints. */
const CASES: Readonly<Record<string, readonly [steps: readonly Step[], result: string]>> = {
  'recognises its own plant in a 4006': [[4080, 5030, 5032, 'cut after'], '5 stored'],
  'does not wait for a negative time': [['negative pause', 4006], '2 stored'],
  // 4290 and 5033 are numbers that no client knows.
  'takes a 5xx with an unknown number for an unknown outcome': [[5033, 4006], '2 stored'],
  'takes no plant for its own after a 429 and a 5030': [[4290, 5030, 4006], '3 refused 4006'],
  'does not repeat a request that meets a bug': [[5000], '1 unknown'],
  'does not repeat a request that cannot succeed': [[4005], '1 refused 4005'],
  'does not follow a redirect': [['redirect to a login page'], '1 refused 302'],
  'takes no success for that of the service': [successes, '6 unknown'],
  'takes a 200 that is cut for an unknown outcome': [['cut within'], '2 stored'],
  'reports an unknown outcome': [[5031, 'bad gateway', ...UNAVAILABLE], '6 unknown'],
  'reports that nothing was stored': [['rate limit', 5030, ...UNAVAILABLE], '6 not stored'],
};

interface Client {
  readonly language: string;
  /** The program without which it cannot be run. */
  readonly needs?: readonly [name: string, path: string | undefined];
  /** Resolves with its command. */
  prepare(): Promise<readonly [command: string, ...args: string[]]>;
}

const CLIENTS: readonly Client[] = [
  {
    language: 'TypeScript',
    prepare: async () => [process.execPath, join(clients, 'typescript/dist/create-plant.js')],
  },
  {
    language: 'Python',
    needs: ['python3', findProgram('python3')],
    prepare: async () => ['python3', join(clients, 'python/create_plant.py')],
  },
  {
    language: 'Go',
    needs: ['go', findProgram('go')],
    async prepare() {
      const binary = join(temporaryFolder(), 'create-plant');
      await run('go', ['build', '-o', binary, 'create_plant.go'], { cwd: join(clients, 'go') });
      return [binary];
    },
  },
  {
    language: 'Kotlin',
    needs: ['.ci/kotlinc', existsSync(kotlin) ? kotlin : undefined],
    async prepare() {
      const jar = join(root, 'test/dist/clients/create-plant.jar');
      const source = join(clients, 'kotlin/CreatePlant.kt');
      const env = { ...process.env, JDK_JAVA_OPTIONS: SHORT_LIVED.join(' ') };
      mkdirSync(dirname(jar), { recursive: true });
      if (changedAt(jar) < changedAt(source)) {
        const libraries = ['core', 'json'].map(
          (part) => `${kotlin}/lib/kotlinx-serialization-${part}-jvm.jar`,
        );
        const args = [source, '-cp', libraries.join(':'), '-d', jar];
        await run(join(kotlin, 'bin/kotlinc'), args, { env });
      }
      return ['java', ...SHORT_LIVED, '-cp', `${jar}:${kotlin}/lib/*`, 'CreatePlantKt'];
    },
  },
];

/** What a client prints. */
type Printed = Record<'stdout' | 'stderr', string>;

/** A client that runs, and what the front does with its requests. */
class Run {
  readonly bodies: string[] = [];
  /** Where the client saves the body. */
  readonly saved: string;
  readonly #steps: Step[];
  #client: ReturnType<typeof run> | undefined;

  constructor(steps: readonly Step[]) {
    this.#steps = [...steps];
    this.saved = join(temporaryFolder(), 'body.json');
  }

  /** Runs the client, which a step may end. Resolves with what it prints. */
  start([file, ...args]: readonly [string, ...string[]], address: string): Promise<Printed> {
    const env = { ...process.env, ACCESS_TOKEN: TOKEN };
    this.#client = run(file, [...args, address, NAME, this.saved], { env });
    return this.#client.catch((error: ExecFileException) => error) as Promise<Printed>;
  }

  /** Keeps the body of a request, without a newline after it, and returns what to do with it. */
  next(body: string): Step {
    this.bodies.push(body.trimEnd());
    return this.#steps.shift() ?? 'pass on';
  }

  crash(): void {
    this.#client?.child.kill('SIGKILL');
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
  // The Kotlin compiler needs a minute, and more on a busy machine.
  this.timeout(300_000);

  let front: Server;
  let service: string;
  const runs: Run[] = [];

  before(async () => {
    service = (await serve({ ACCESS_TOKEN_SHA256 })).address;
    front = createServer(forward);
    await once(front.listen(0, '127.0.0.1'), 'listening');
  });

  after(() => {
    front?.close();
    endAll();
  });

  /** Does the next step of the run whose index begins the path. */
  async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, index = '', path] = request.url?.split('/') ?? [];
    const client = runs[Number(index)];
    if (path !== 'plants' || client === undefined) return void response.end('<h1>Log in</h1>');
    const body = await text(request);
    const step = client.next(body);
    if (typeof step === 'number') {
      response.writeHead(Math.floor(step / 10), { 'Retry-After': '0' });
      return void response.end(JSON.stringify({ error: step, message: 'a fake' }));
    }
    if (step in PROXY_RESPONSES) {
      const [status, headers, page] = PROXY_RESPONSES[step as ProxyResponse];
      return void response.writeHead(status, headers).end(page);
    }
    const headers = {
      Authorization: request.headers.authorization ?? '',
      'Content-Type': request.headers['content-type'] ?? '',
    };
    const reply = await fetch(`${service}/plants`, { method: 'POST', headers, body });
    if (step === 'cut after') return void request.socket.destroy();
    if (step === 'crash after') return client.crash();
    const stored = await reply.text();
    if (step === 'cut within') {
      const length = Buffer.byteLength(stored) + 1;
      response.writeHead(reply.status, { ...JSON_TYPE, 'Content-Length': length });
      return void response.write(stored, () => response.destroy());
    }
    response.writeHead(reply.status, JSON_TYPE).end(stored);
  }

  for (const { language, needs, prepare } of CLIENTS) {
    describe(`in ${language}`, () => {
      let command: readonly [string, ...string[]];

      before(async function () {
        if (needs !== undefined && needs[1] === undefined) {
          skipWithout(this, `the client in ${language} needs ${needs[0]}`);
        }
        command = await prepare();
      });

      /** Runs the client with the steps of its requests. Resolves with what it prints. */
      function start(run: Run): Promise<Printed> {
        const { port } = front.address() as AddressInfo;
        if (!runs.includes(run)) runs.push(run);
        return run.start(command, `http://127.0.0.1:${port}/${runs.indexOf(run)}`);
      }

      // All at the same time, because a client waits between its attempts.
      it('reports what became of the plant, and repeats only what may be repeated', async () => {
        const results = Object.entries(CASES).map(async ([title, [steps]]) => {
          const run = new Run(steps);
          return [title, run.resultOf(await start(run))] as const;
        });
        const expected = Object.entries(CASES).map(([title, [, result]]) => [title, result]);
        expect(await Promise.all(results)).to.deep.equal(expected);
      });

      it('sends the saved body again after a crash, and recognises its own plant', async () => {
        const run = new Run(['crash after']);
        expect((await start(run)).stdout).to.equal('');
        // As an editor does.
        appendFileSync(run.saved, '\n');
        expect(run.resultOf(await start(run))).to.equal('2 stored');
      });

      it('sends nothing, and keeps the file, when the saved body is empty or cannot be read', async () => {
        for (const make of [(path: string) => writeFileSync(path, ''), mkdirSync]) {
          const saving = new Run([]);
          make(saving.saved);
          const { stdout, stderr } = await start(saving);
          expect(stdout).to.equal('');
          expect(stderr).to.match(/body\.json: expected a saved body/);
          expect(saving.bodies).to.deep.equal([]);
          expect(existsSync(saving.saved)).to.equal(true);
        }
      });

      it('prints why there was no response', async () => {
        const { stderr } = await start(new Run(['cut after']));
        expect(stderr).to.match(/^(?:.* )?no response: .*\w/m);
      });
    });
  }
});

/** Returns when a file was changed; 0 for no file. */
function changedAt(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
