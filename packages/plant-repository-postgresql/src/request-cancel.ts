import { once } from 'node:events';
import type { Socket } from 'node:net';
import { type Client, Connection } from 'pg';

/** What `pg` does not document. Without it, an abandoned statement keeps its backend as long as the server waits. */
interface Undocumented {
  readonly processID: number;
  readonly secretKey: number;
  connect(portOrPath: number | string, host?: string): void;
  requestSsl(): void;
  cancel(processID: number, secretKey: number): void;
}

/**
 * Asks the server to cancel the statement of a client, encrypted like that. Resolves when it has done so, or when the
 * socket for the request is closed. A request that is late could cancel the next statement.
 */
export async function requestCancel(client: Client, socket: Socket): Promise<void> {
  const { host, port, ssl, processID, secretKey } = client as Client & Undocumented;
  const request = new Connection({ ssl, stream: () => socket }) as Connection & Undocumented;
  const cancel = () => request.cancel(processID, secretKey);
  request.on('error', () => undefined);
  request.on('connect', () => (ssl ? request.requestSsl() : cancel()));
  request.on('sslconnect', cancel);
  const closed = once(socket, 'close');
  if (host.startsWith('/')) request.connect(`${host}/.s.PGSQL.${port}`);
  else request.connect(port, host);
  await closed;
}
