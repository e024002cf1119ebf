import { connect, type Socket } from 'node:net';

/** Receives the latency and the outcome of each create. */
export type OnResponse = (milliseconds: number, stored: boolean) => void;

/** All ids have 16 digits and are exact as doubles, because some peers round larger ones. */
const FIRST_ID = 1e15;
const IDS = 8e15;

/**
 * A client that sends one create after the other on one connection. It handles bytes itself, because an HTTP client
 * would use more CPU time than the servers that are measured.
 */
export class CreatingConnection {
  readonly #socket: Socket;
  readonly #head: string;
  readonly #onResponse: OnResponse;
  #sentAt = 0;
  #response = '';
  #ended = false;

  constructor(socket: Socket, head: string, onResponse: OnResponse) {
    this.#socket = socket;
    this.#head = head;
    this.#onResponse = onResponse;
    socket.setNoDelay().setEncoding('latin1');
    socket.on('data', (text: unknown) => this.#receive(text as string));
    socket.on('close', () => this.#lost());
    socket.on('error', () => undefined);
  }

  /** Resolves with an open connection that has not sent anything. */
  static open(url: URL, token: string, onResponse: OnResponse): Promise<CreatingConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect(Number(url.port), url.hostname);
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.removeListener('error', reject);
        resolve(new CreatingConnection(socket, headOf(url, token), onResponse));
      });
    });
  }

  send(): void {
    this.#sentAt = performance.now();
    this.#socket.write(this.#head + body());
  }

  end(): void {
    this.#ended = true;
    this.#socket.destroy();
  }

  #receive(text: string): void {
    this.#response += text;
    if (!isComplete(this.#response)) return;
    const stored = this.#response.startsWith('HTTP/1.1 2');
    this.#response = '';
    this.#onResponse(performance.now() - this.#sentAt, stored);
    if (!this.#ended) this.send();
  }

  #lost(): void {
    if (!this.#ended) this.#onResponse(performance.now() - this.#sentAt, false);
  }
}

function body(): string {
  const id = FIRST_ID + Math.floor(Math.random() * IDS);
  return `{"id":${id},"name":"Monstera deliciosa","tag":"tropical"}`;
}

function headOf({ host }: URL, token: string): string {
  return [
    'POST /plants HTTP/1.1',
    `Host: ${host}`,
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    `Content-Length: ${body().length}`,
    '\r\n',
  ].join('\r\n');
}

/** All measured servers send `Content-Length` and ASCII. */
function isComplete(response: string): boolean {
  const head = response.indexOf('\r\n\r\n');
  if (head < 0) return false;
  const at = response.search(/content-length: /i);
  const length = Number.parseInt(response.slice(at + 'content-length: '.length), 10);
  return response.length >= head + 4 + length;
}
