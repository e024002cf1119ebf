import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ReceivedResponse } from './raw-connection.js';

const PRISM = createRequire(import.meta.url).resolve('@stoplight/prism-cli/dist/index.js');

const DESCRIPTION = 'openapi.json';

/** A valid request to the described operation, which Prism accepts. */
const GOOD_REQUEST = {
  method: 'POST',
  headers: { authorization: 'Bearer token', 'content-type': 'application/json' },
  body: '{"id":1,"name":"Monstera"}',
};

/** Fields that a proxy replaces. */
const HOP_FIELDS = new Set(['connection', 'keep-alive', 'content-length']);

const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** The response of the proxy, and the violations that it found, as JSON text. */
export interface Validated {
  readonly status: number;
  readonly body: string;
  readonly violations: string | null;
}

/**
 * Prism as a proxy in front of a relay that repeats responses of the service.
 *
 * Prism parses and rewrites the JSON of a request, so it rounds ids and does not pass on invalid requests. Therefore,
 * the same valid request is always sent through Prism, and the relay responds with the response of a case.
 */
export class ValidatingProxy {
  readonly #folder: string;
  readonly #prism: ChildProcess;
  readonly #relay: Server;
  #url = '';
  #response: ReceivedResponse | undefined;

  private constructor(folder: string, relay: Server) {
    this.#folder = folder;
    const description = join(folder, DESCRIPTION);
    const where = ['--host', '127.0.0.1', '--port', '0'];
    this.#prism = spawn(process.execPath, [PRISM, 'proxy', description, urlOf(relay), ...where], {
      env: { PATH: process.env.PATH },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.add(this.#prism);
    this.#prism.once('exit', () => running.delete(this.#prism));
    this.#relay = relay.on('request', (request, response) => {
      request.resume();
      if (this.#response === undefined) response.destroy();
      else repeat(this.#response, response);
    });
  }

  /**
   * Starts Prism with the description as a file, because it cannot download one on Node.js 24.
   *
   * @param description The URL of the interface description.
   */
  static async start(description: string): Promise<ValidatingProxy> {
    const relay = createServer().listen(0, '127.0.0.1');
    await once(relay, 'listening');
    const folder = await mkdtemp(join(tmpdir(), 'plant-store-prism-'));
    await writeFile(join(folder, DESCRIPTION), await (await fetch(description)).text());
    const proxy = new ValidatingProxy(folder, relay);
    proxy.#url = await printedUrl(proxy.#prism);
    return proxy;
  }

  /** Passes a response through Prism. Not for concurrent calls. */
  async pass(received: ReceivedResponse): Promise<Validated> {
    this.#response = received;
    const response = await fetch(`${this.#url}/plants`, GOOD_REQUEST);
    const violations = response.headers.get('sl-violations');
    return { status: response.status, body: await response.text(), violations };
  }

  async stop(): Promise<void> {
    const ended = Promise.all([once(this.#prism, 'exit'), once(this.#relay, 'close')]);
    this.#prism.kill();
    this.#relay.close();
    this.#relay.closeAllConnections();
    await ended;
    await rm(this.#folder, { recursive: true });
  }
}

function repeat({ status, fields, body }: ReceivedResponse, response: ServerResponse): void {
  response.sendDate = false;
  for (const [name, value] of fields) {
    if (!HOP_FIELDS.has(name)) response.appendHeader(name, value);
  }
  response.writeHead(status, { 'content-length': body.length }).end(body);
}

function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function printedUrl(prism: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let printed = '';
    const read = (text: string): void => {
      printed += text;
      const url = /listening on (http:\/\/127\.0\.0\.1:\d+)/.exec(printed)?.[1];
      if (url !== undefined) resolve(url);
    };
    prism.stdout?.setEncoding('utf8').on('data', read);
    prism.stderr?.setEncoding('utf8').on('data', read);
    prism.once('exit', (code) => reject(new Error(`Prism exited with ${code}: ${printed}`)));
  });
}
