import { channel } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

/**
 * Resolves with the socket that has sent the most bytes, among all that this process opens while `use` runs. If `use` adds a
 * plant with a long name, it is the socket of the insert, not of the driver's monitors.
 */
export async function busiestSocket(use: () => Promise<void>): Promise<Socket> {
  const sockets: Socket[] = [];
  const collect = (message: unknown) => sockets.push((message as { socket: Socket }).socket);
  channel('net.client.socket').subscribe(collect);
  await use().finally(() => channel('net.client.socket').unsubscribe(collect));
  const [busiest] = sockets.sort((a, b) => b.bytesWritten - a.bytesWritten);
  if (busiest === undefined) throw new Error('no socket was opened');
  return busiest;
}
