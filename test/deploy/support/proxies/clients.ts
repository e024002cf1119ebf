import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { type ClientHttp2Session, connect } from 'node:http2';
import { Agent, request } from 'node:https';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { TOKEN } from '@plant-store/service-process';

const run = promisify(execFile);

/** A request to create a plant. Omitted parts are valid. */
export interface Parts {
  readonly headers?: Readonly<Record<string, string>>;
  /** The body. Several parts are sent one after the other, without a length. */
  readonly body: string | readonly string[];
}

/** A response. */
export interface Reply {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  /** Whether `100 Continue` was received first. */
  readonly continued: boolean;
}

/** A client of one server that trusts one certificate authority. */
export interface Client {
  /** Sends the request. Rejects when there is no response. */
  create(parts: Parts): Promise<Reply>;
  close(): void;
}

/** The server of a client, and the certificate of its authority. */
export interface Target {
  readonly origin: string;
  readonly ca: string;
  /** The address from which the client connects. */
  readonly localAddress?: string;
}

const USUAL = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };

/** Creates a client of HTTP/1.1, with connections that it keeps or a new one for each request. */
export function http1Client({ origin, ca, localAddress }: Target, keepAlive = true): Client {
  const local = localAddress === undefined ? {} : { localAddress };
  const agent = new Agent({ keepAlive, maxSockets: 50, ca, ALPNProtocols: ['http/1.1'], ...local });
  return {
    create: ({ headers = {}, body }) =>
      new Promise((resolve, reject) => {
        const length = lengthOf(body);
        const sent = request(`${origin}/plants`, {
          agent,
          method: 'POST',
          headers: { ...USUAL, ...length, ...headers },
        });
        let continued = false;
        const write = () => void sendBody(sent, body);
        sent.on('error', reject).on('response', (response) => {
          const status = response.statusCode ?? 0;
          textOf(response).then(
            (text) => resolve({ status, headers: response.headers, body: text, continued }),
            reject,
          );
        });
        if (headers.expect === undefined) write();
        else {
          sent.flushHeaders();
          sent.once('continue', () => {
            continued = true;
            write();
          });
        }
      }),
    close: () => agent.destroy(),
  };
}

/** Opens a client of HTTP/2, with one connection. */
export async function http2Client({ origin, ca }: Target): Promise<Client> {
  const session: ClientHttp2Session = connect(origin, { ca });
  await once(session, 'connect');
  if (session.alpnProtocol !== 'h2') throw new Error(`not HTTP/2 but ${session.alpnProtocol}`);
  session.on('error', () => {});
  return {
    create: ({ headers = {}, body }) =>
      new Promise((resolve, reject) => {
        const stream = session.request({
          ':method': 'POST',
          ':path': '/plants',
          ...USUAL,
          ...lengthOf(body),
          ...headers,
        });
        let responded = false;
        stream.on('response', (fields) => {
          responded = true;
          const status = Number(fields[':status']);
          textOf(stream).then(
            (text) => resolve({ status, headers: fields, body: text, continued: false }),
            reject,
          );
        });
        stream.on('error', (error) => {
          if (!responded) reject(error);
        });
        stream.on('close', () => {
          if (!responded) reject(new Error(`closed without a response (${stream.rstCode})`));
        });
        void sendBody(stream, body);
      }),
    close: () => session.destroy(),
  };
}

/** Sends a request with curl; resolves with what it prints: the body, a line break, and `%{http_version} %{http_code}`. */
export async function curl({ origin, ca }: Target, ...more: readonly string[]): Promise<string> {
  const fields = Object.entries(USUAL).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const quiet = ['-sS', '--cacert', ca, '-w', '\n%{http_version} %{http_code}'];
  const { stdout } = await run('curl', [...quiet, ...fields, ...more, `${origin}/plants`]);
  return stdout;
}

function lengthOf(body: Parts['body']): Record<string, string> {
  return typeof body === 'string' ? { 'content-length': `${Buffer.byteLength(body)}` } : {};
}

interface Writable {
  write(text: string): boolean;
  end(): unknown;
}

/** Sends each part separately, as far as this side decides it. */
async function sendBody(writable: Writable, body: Parts['body']): Promise<void> {
  for (const part of [body].flat()) {
    writable.write(part);
    await new Promise((resolve) => setImmediate(resolve));
  }
  writable.end();
}

async function textOf(stream: Readable): Promise<string> {
  let text = '';
  for await (const chunk of stream.setEncoding('utf8')) text += chunk;
  return text;
}
