import { once } from 'node:events';
import { connect } from 'node:http2';
import { Agent, request } from 'node:https';
import type { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fail } from '@plant-store/contract-suite';
import { TOKEN } from '@plant-store/test-servers/service-process';

/** A `POST`. Omitted parts default to a valid request to create a plant. */
export interface Parts {
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body. Several parts are sent one after the other, without a length. */
  readonly body: string | readonly string[];
}

export interface Reply {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** A client of one server that trusts one CA. */
export interface Client {
  /** Sends the request. Rejects if no response arrives. */
  send(parts: Parts): Promise<Reply>;
  close(): void;
}

/** The server of a client, and the certificate of its CA. */
export interface Target {
  readonly origin: string;
  readonly ca: string;
  /** The address from which the client connects. */
  readonly localAddress?: string;
}

const USUAL = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };

/** Creates a client of HTTP/1.1, with connections that it keeps or a new one for each request. */
export function http1Client({ origin, ca, localAddress }: Target, keepAlive = true): Client {
  const protocol = { ALPNProtocols: ['http/1.1'], ca };
  const agent = new Agent({ keepAlive, maxSockets: 50, localAddress, ...protocol });
  return {
    async send({ path = '/plants', ...parts }) {
      const options = { agent, method: 'POST', headers: headersOf(parts) };
      const sent = request(`${origin}${path}`, options).on('error', () => undefined);
      void sendBody(sent, parts.body);
      const [response] = await once(sent, 'response');
      const { statusCode: status, headers } = response;
      return { status, headers, body: await text(response) };
    },
    close: () => agent.destroy(),
  };
}

/** Opens a client of HTTP/2, with one connection. */
export async function http2Client({ origin, ca }: Target): Promise<Client> {
  const session = connect(origin, { ca });
  await once(session, 'connect');
  if (session.alpnProtocol !== 'h2') throw new Error(`not HTTP/2 but ${session.alpnProtocol}`);
  session.on('error', () => undefined);
  return {
    async send({ path = '/plants', ...parts }) {
      const start = { ':method': 'POST', ':path': path, ...headersOf(parts) };
      const stream = session.request(start).on('error', () => undefined);
      void sendBody(stream, parts.body);
      const closed = once(stream, 'close').then(() => fail(`no response (${stream.rstCode})`));
      const [headers] = await Promise.race([once(stream, 'response'), closed]);
      return { status: Number(headers[':status']), headers, body: await text(stream) };
    },
    close: () => session.destroy(),
  };
}

function headersOf({ headers, body }: Parts): Record<string, string> {
  const length = typeof body === 'string' ? { 'content-length': `${Buffer.byteLength(body)}` } : {};
  return { ...USUAL, ...length, ...headers };
}

/** Sends each part separately, as far as this side decides it. */
async function sendBody(writable: Writable, body: Parts['body']): Promise<void> {
  for (const part of [body].flat()) {
    writable.write(part);
    await new Promise((resolve) => setImmediate(resolve));
  }
  writable.end();
}
