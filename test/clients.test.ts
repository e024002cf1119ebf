import { type ExecFileException, execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ACCESS_TOKEN_SHA256, endAll, serve, TOKEN } from '@plant-store/service-process';
import { expect } from 'chai';

const run = promisify(execFile);
const clients = fileURLToPath(new URL('../../examples/clients/', import.meta.url));

/** The compiler that `.ci/kotlinc` fetches, otherwise that of the machine. */
const fetched = fileURLToPath(new URL('../../.cache/kotlinc/bin/kotlinc', import.meta.url));
const kotlinc = exists(fetched) ? fetched : 'kotlinc';

/** Programs that run for a second: the JVM must not spend it on optimising them. */
const SHORT_LIVED = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xshare:auto'];

/** What the fake in front of the service does with a request: an error number, or one of these. */
type Step = number | 'cut before' | 'cut after' | 'crash after' | 'pass on' | keyof typeof PROXY;

const NAME = 'Ficus "elastica" \u{1F33F}';

/** The statuses of errors. 4290 and 5033 are numbers that no client knows. */
const STATUSES: Readonly<Record<number, number>> = {
  4080: 408,
  4290: 429,
  5000: 500,
  5030: 503,
  5031: 503,
  5032: 503,
  5033: 503,
};

/** Responses that a proxy makes itself. */
const PROXY = {
  'bad gateway': [
    502,
    { 'Retry-After': 'Wed, 21 Oct 2026 07:28:00 GMT' },
    '{"error":"Bad Gateway"}',
  ],
  'negative pause': [503, { 'Retry-After': '-30' }, ''],
  'rate limit': [429, { 'Retry-After': '0' }, '<h1>Too Many Requests</h1>'],
  'redirect to a login page': [302, { Location: '/login' }, ''],
} as const;

interface Client {
  readonly language: string;
  /** What must be there to run it; with `CI` set, it must be there. */
  readonly needs?: string;
  prepare(folder: string): Promise<readonly [command: string, ...args: string[]]>;
}

const CLIENTS: readonly Client[] = [
  {
    language: 'TypeScript',
    prepare: async () => [process.execPath, join(clients, 'typescript/dist/create-plant.js')],
  },
  {
    language: 'Python',
    needs: 'python3',
    prepare: async () => ['python3', join(clients, 'python/create_plant.py')],
  },
  {
    language: 'Go',
    needs: 'go',
    async prepare(folder) {
      const binary = join(folder, 'create-plant');
      await run('go', ['build', '-o', binary, 'create_plant.go'], { cwd: join(clients, 'go') });
      return [binary];
    },
  },
  {
    language: 'Kotlin',
    needs: kotlinc,
    async prepare(folder) {
      const jar = join(folder, 'create-plant.jar');
      const source = join(clients, 'kotlin/CreatePlant.kt');
      const env = { ...process.env, JDK_JAVA_OPTIONS: SHORT_LIVED.join(' ') };
      await run(kotlinc, [source, '-include-runtime', '-d', jar], { env });
      return ['java', ...SHORT_LIVED, '-jar', jar];
    },
  },
];

describe('The clients of docs/clients.md', function () {
  this.timeout(120_000);

  let folder: string;
  let front: Server;
  let steps: Step[] = [];
  let bodies: string[] = [];
  let address: string;
  /** Ends the running client. */
  let crash: () => void;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'clients-'));
    const service = await serve({ ACCESS_TOKEN_SHA256 });
    front = createServer((request, response) => forward(service.address, request, response));
    await once(front.listen(0, '127.0.0.1'), 'listening');
    address = `http://127.0.0.1:${(front.address() as AddressInfo).port}`;
  });

  after(async () => {
    front.close();
    endAll();
    await rm(folder, { recursive: true });
  });

  async function forward(to: string, request: IncomingMessage, response: ServerResponse) {
    if (request.url === '/login') return void response.end('<h1>Log in</h1>');
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    bodies.push(body);
    const step = steps.shift() ?? 'pass on';
    if (typeof step === 'number') {
      response.writeHead(STATUSES[step] ?? 400, { 'Retry-After': '0' });
      response.end(JSON.stringify({ error: step, message: 'a fake' }));
      return;
    }
    if (step in PROXY) {
      const [status, headers, text] = PROXY[step as keyof typeof PROXY];
      response.writeHead(status, headers).end(text);
      return;
    }
    if (step === 'cut before') return void request.socket.destroy();
    const headers = {
      Authorization: request.headers.authorization ?? '',
      'Content-Type': request.headers['content-type'] ?? '',
    };
    const reply = await fetch(`${to}${request.url}`, { method: 'POST', headers, body });
    if (step === 'cut after') return void request.socket.destroy();
    if (step === 'crash after') return crash();
    response.writeHead(reply.status, { 'Content-Type': 'application/json' });
    response.end(await reply.text());
  }

  for (const { language, needs, prepare } of CLIENTS) {
    const isMissing = needs !== undefined && !exists(needs);
    describe(`in ${language}`, () => {
      let command: readonly [string, ...string[]];
      let saved: string;

      before(async function () {
        if (isMissing) {
          if (process.env.CI) throw new Error(`no ${needs}`);
          process.stderr.write(
            `\n!!! THE CLIENT IN ${language} IS NOT TESTED: no ${needs} !!!\n\n`,
          );
          this.skip();
        }
        command = await prepare(folder);
        saved = join(folder, 'body.json');
      });

      /** Runs the client, which may be killed by a step. Resolves with what it prints. */
      async function printedWith(planned: readonly Step[]): Promise<string> {
        return (await outputWith(planned)).stdout;
      }

      async function outputWith(planned: readonly Step[]) {
        steps = [...planned];
        const [file, ...args] = command;
        const env = { ...process.env, ACCESS_TOKEN: TOKEN };
        const child = run(file, [...args, address, NAME, saved], { env });
        crash = () => child.child.kill('SIGKILL');
        return child.catch(
          (error: ExecFileException & { stdout: string; stderr: string }) => error,
        );
      }

      /** The outcome that the client reports. Every attempt has the same body, with the reported id. */
      function outcomeOf(printed: string): string {
        const [, id = '', outcome = ''] = /^(-?\d+) (.*)\n$/.exec(printed) ?? [];
        expect(new Set(bodies).size, 'different bodies').to.equal(1);
        expect(bodies[0]).to.match(new RegExp(`"id": ?${id},`));
        expect(JSON.parse(bodies[0] ?? '')).to.have.property('name', NAME);
        return outcome;
      }

      async function outcomeWith(...planned: Step[]): Promise<string> {
        rmSync(saved, { recursive: true, force: true });
        bodies = [];
        return outcomeOf(await printedWith(planned));
      }

      it('sends the same body again after a crash, and recognises its own plant', async () => {
        rmSync(saved, { recursive: true, force: true });
        bodies = [];
        expect(await printedWith(['crash after'])).to.equal('');
        expect(outcomeOf(await printedWith([]))).to.equal('stored');
        expect(bodies).to.have.length(2);
        expect(existsSync(saved)).to.equal(false);
      });

      it('creates a plant', async () => {
        expect(await outcomeWith()).to.equal('stored');
        expect(bodies).to.have.length(1);
      });

      it('retries when nothing was stored, or the outcome is unknown', async () => {
        expect(await outcomeWith(5030, 5032, 4080, 5031, 'cut before')).to.equal('stored');
        expect(bodies).to.have.length(6);
      });

      it('recognises its own plant in a 4006 after an unknown outcome', async () => {
        expect(await outcomeWith('cut after')).to.equal('stored');
        expect(bodies).to.have.length(2);
      });

      it('does not take a 4006 to its first attempt, nor after a 5030, for its own plant', async () => {
        expect(await outcomeWith(4006)).to.equal('refused 4006');
        expect(await outcomeWith(5030, 4006)).to.equal('refused 4006');
      });

      it('does not repeat a request that cannot succeed', async () => {
        expect(await outcomeWith(4005)).to.equal('refused 4005');
        expect(bodies).to.have.length(1);
      });

      it('takes the error of a proxy for an unknown outcome, and its rate limit for a refusal', async () => {
        expect(await outcomeWith('bad gateway', 4006)).to.equal('stored');
        expect(await outcomeWith('rate limit', 4006)).to.equal('refused 4006');
      });

      it('takes an error 5xx whose number it does not know for an unknown outcome', async () => {
        expect(await outcomeWith(5033, 4006)).to.equal('stored');
        expect(await outcomeWith('negative pause', 4006)).to.equal('stored');
      });

      it('retries after every 429, also after one with an error number', async () => {
        expect(await outcomeWith(4290, 4006)).to.equal('refused 4006');
      });

      it('does not repeat a request that meets a bug, and reports its outcome as unknown', async () => {
        expect(await outcomeWith(5000)).to.equal('unknown');
        expect(bodies).to.have.length(1);
        expect(existsSync(saved)).to.equal(true);
      });

      it('sends nothing, and keeps the file, when the saved body cannot be read', async () => {
        const unreadable = {
          empty: () => writeFileSync(saved, ''),
          folder: () => mkdirSync(saved),
        };
        for (const make of Object.values(unreadable)) {
          rmSync(saved, { recursive: true, force: true });
          make();
          bodies = [];
          const { stdout, stderr } = await outputWith([]);
          expect(stdout).to.equal('');
          expect(stderr).to.match(/body\.json: expected a saved body/);
          expect(bodies).to.have.length(0);
          expect(existsSync(saved)).to.equal(true);
        }
        rmSync(saved, { recursive: true });
      });

      it('does not follow a redirect', async () => {
        expect(await outcomeWith('redirect to a login page')).to.equal('refused 302');
        expect(bodies).to.have.length(1);
      });

      it('reports an unknown outcome as unknown when it gives up', async () => {
        expect(await outcomeWith(5031, 5030, 5030, 5030, 5030, 5030)).to.equal('unknown');
        expect(existsSync(saved)).to.equal(true);
        expect(await outcomeWith(5030, 5030, 5030, 5030, 5030, 5030)).to.equal('not stored');
      });
    });
  }
});

function exists(command: string): boolean {
  return spawnSync('sh', ['-c', 'command -v "$0"', command]).status === 0;
}
