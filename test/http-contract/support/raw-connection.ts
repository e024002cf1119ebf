import { EventEmitter, once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Long even for a busy machine, and shorter than Mocha's limit, which names no reason. */
const MAX_WAIT_MS = 60_000;

export interface ReceivedResponse {
  readonly version: string;
  readonly status: number;
  /** Status line and fields, as text. */
  readonly head: string;
  /** Names in lower case. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
  /** The statuses of the interim responses before it, such as 100. */
  readonly interim: readonly number[];
}

export function fieldValues(response: ReceivedResponse, name: string): string[] {
  return response.fields.filter(([field]) => field === name).map(([, value]) => value);
}

/** A connection that can send any bytes and reads responses. */
export class RawConnection {
  readonly socket: Socket;
  readonly #events = new EventEmitter();
  #received: Buffer = Buffer.alloc(0);
  #ending: 'end' | 'reset' | undefined;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.setNoDelay();
    socket.on('data', (chunk) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#events.emit('change');
    });
    socket.on('end', () => this.#endedBy('end'));
    socket.on('error', () => this.#endedBy('reset'));
  }

  static async open(port: number): Promise<RawConnection> {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    await once(socket, 'connect');
    return new RawConnection(socket);
  }

  /** Sends bytes, or text as Latin-1. Resolves when they have left this process, or when the connection has ended. */
  send(bytes: string | Uint8Array): Promise<void> {
    const buffer = typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes;
    return new Promise((resolve) => {
      this.socket.write(buffer, () => resolve());
    });
  }

  [Symbol.dispose](): void {
    this.socket.destroy();
  }

  /** Resolves with the status of the next response, including interim ones, without removing it. */
  async nextStatus(): Promise<number> {
    return (await this.#message(false)).message.status;
  }

  /** Takes the next final response: one to a HEAD has no body. Rejects when the connection ends without one. */
  async response(toHead = false): Promise<ReceivedResponse> {
    const interim: number[] = [];
    for (;;) {
      const { message, length } = await this.#message(toHead);
      this.#received = this.#received.subarray(length);
      if (message.status >= 200) return { ...message, interim };
      interim.push(message.status);
    }
  }

  /** Resolves with every response until the other side ends the connection. */
  async responsesUntilEnd(toHead = false): Promise<ReceivedResponse[]> {
    await this.ending();
    const responses: ReceivedResponse[] = [];
    while (this.#received.length > 0) responses.push(await this.response(toHead));
    return responses;
  }

  /** Resolves with how the other side has ended the connection, and with the bytes after the responses that were read. */
  async ending(): Promise<{ by: 'end' | 'reset'; rest: string }> {
    const by = await this.#until(() => this.#ending);
    return { by, rest: this.#received.toString('latin1') };
  }

  #endedBy(ending: 'end' | 'reset'): void {
    this.#ending ??= ending;
    this.#events.emit('change');
  }

  #message(toHead: boolean) {
    return this.#until(() => {
      const parsed = parseResponse(this.#received, toHead);
      if (parsed === undefined && this.#ending !== undefined) {
        throw new Error(`no response before the ${this.#ending}: ${this.#shown()}`);
      }
      return parsed;
    });
  }

  async #until<T>(condition: () => T | undefined): Promise<T> {
    const signal = AbortSignal.timeout(MAX_WAIT_MS);
    for (;;) {
      const value = condition();
      if (value !== undefined) return value;
      await once(this.#events, 'change', { signal }).catch(() => {
        throw new Error(`nothing for ${MAX_WAIT_MS} ms; received: ${this.#shown()}`);
      });
    }
  }

  #shown(): string {
    return JSON.stringify(this.#received.toString('latin1').slice(0, 400));
  }
}

function parseResponse(bytes: Buffer, toHead: boolean) {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const head = bytes.toString('latin1', 0, end);
  const [statusLine = '', ...lines] = head.split('\r\n');
  const [, version = '', code] = parts(/^(HTTP\/\d\.\d) (\d{3}) [^\r\n]*$/, statusLine);
  const status = Number(code);
  const fields = lines.map((line): [string, string] => {
    const [, name = '', value = ''] = parts(/^([!#$%&'*+\-.^_`|~\w]+):[ \t]*(.*?)[ \t]*$/, line);
    return [name.toLowerCase(), value];
  });
  const start = end + 4;
  const isEmpty = toHead || status < 200 || status === 204 || status === 304;
  const lengths = fields.filter(([name]) => name === 'content-length').map(([, value]) => value);
  const size = isEmpty ? 0 : Number(parts(/^\d+$/, `${lengths}`)[0]);
  if (bytes.length < start + size) return undefined;
  const body = bytes.subarray(start, start + size);
  return { message: { version, status, head, fields, body }, length: start + size };
}

function parts(pattern: RegExp, text: string): RegExpExecArray {
  const found = pattern.exec(text);
  if (found === null) throw new Error(`a response has ${JSON.stringify(text)}, not ${pattern}`);
  return found;
}
