import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { listen } from '@plant-store/test-servers/loopback';

export const JSON_TYPE = { 'Content-Type': 'application/json' };

/** A response that a proxy makes itself. */
export type Own = readonly [
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string,
];

/**
 * What a proxy in front of the service does with a request. `after` means that the service has carried it out. A number is
 * an error of the service, and `pass` is what a proxy is for.
 */
export type Step =
  | number
  | Own
  | 'pass'
  | 'cut'
  | 'cut after'
  | 'cut within'
  | 'hang'
  | 'hang after'
  | 'dribble';

/** What a client can learn from a failure. */
interface Relayed {
  readonly status: number;
  readonly requestId: string;
  readonly error?: number;
  readonly message?: string;
}

/** A proxy in front of the service, which takes the next step for each request. */
export class Front {
  readonly requests: { body: string; authorization: string | undefined; at: number }[] = [];
  readonly sockets: Socket[] = [];
  /** The last reply of the service. */
  relayed: Relayed | undefined;
  readonly #service: string;
  readonly #steps: Step[];

  constructor(service: string, ...steps: readonly Step[]) {
    this.#service = service;
    this.#steps = [...steps];
  }

  async open(): Promise<string> {
    const server = createServer((request, response) => this.#forward(request, response)).unref();
    // Longer than a busy machine needs from one request to the next.
    server.keepAliveTimeout = 60_000;
    server.on('connection', (socket) => this.sockets.push(socket));
    return `http://127.0.0.1:${await listen(server)}`;
  }

  async #forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { authorization = '', 'content-type': type = '' } = request.headers;
    const body = await text(request);
    this.requests.push({ body, authorization, at: performance.now() });
    const step = (this.#steps.length > 1 ? this.#steps.shift() : this.#steps[0]) ?? 'pass';
    if (typeof step === 'number') {
      response.writeHead(Math.floor(step / 10), { ...JSON_TYPE, 'Retry-After': '0' });
      return void response.end(JSON.stringify({ error: step, message: 'a fake' }));
    }
    if (typeof step !== 'string') return void response.writeHead(step[0], step[1]).end(step[2]);
    if (step === 'cut') return void request.socket.destroy();
    if (step === 'hang') return;
    if (step === 'dribble') return this.#dribble(response);
    const headers = { authorization, 'content-type': type };
    const reply = await fetch(`${this.#service}${request.url}`, { method: 'POST', headers, body });
    const stored = await reply.text();
    if (step === 'cut after') return void request.socket.destroy();
    if (step === 'hang after') return;
    if (step === 'cut within') {
      const length = Buffer.byteLength(stored) + 1;
      response.writeHead(reply.status, { ...JSON_TYPE, 'Content-Length': length });
      return void response.write(stored, () => response.destroy());
    }
    const requestId = reply.headers.get('X-Request-Id') ?? '';
    this.relayed = { status: reply.status, requestId, ...JSON.parse(stored) };
    response.writeHead(reply.status, { ...JSON_TYPE, 'X-Request-Id': requestId }).end(stored);
  }

  /** Sends a space from time to time, as long as the client is there. */
  #dribble(response: ServerResponse): void {
    response.writeHead(200, JSON_TYPE);
    const timer = setInterval(() => response.write(' '), 100);
    response.once('close', () => clearInterval(timer));
  }
}
