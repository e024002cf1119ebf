import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

const ACCEPTED = 'net.server.socket';

/** Calls `callback` for every connection that a server of this process accepts on the port. Returns a function that stops it. */
export function onAccepted(port: number, callback: (socket: Socket) => void): () => void {
  const accepted = (message: unknown) => {
    const { socket } = message as { socket: Socket };
    if (socket.localPort === port) callback(socket);
  };
  subscribe(ACCEPTED, accepted);
  return () => {
    unsubscribe(ACCEPTED, accepted);
  };
}

/** Opens a connection to a server of this process. Resolves with both ends. Not for concurrent calls. */
export async function connected(port: number): Promise<{ socket: Socket; accepted: Socket }> {
  let stop = (): void => undefined;
  const accepting = new Promise<Socket>((resolve) => {
    stop = onAccepted(port, resolve);
  });
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  const [accepted] = await Promise.all([accepting, once(socket, 'connect')]);
  stop();
  return { socket, accepted };
}

/** Calls `callback` whenever the server hands bytes of the connection to the operating system. */
export function onWrite(socket: Socket, callback: () => void): void {
  const write = socket._write.bind(socket);
  const writev = socket._writev?.bind(socket);
  socket._write = (...args) => {
    callback();
    write(...args);
  };
  socket._writev = (...args) => {
    callback();
    writev?.(...args);
  };
}
