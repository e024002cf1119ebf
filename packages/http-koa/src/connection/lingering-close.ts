import type { Socket } from 'node:net';

/** After a closing response, the connection is closed when this many bytes were read or this time has passed. */
const MAX_BYTES = 65_536;
const MAX_MS = 500;

/**
 * Closes a connection so that the client receives the response before any reset (RFC 9112 section 9.6). Half-closes
 * it, then reads and discards bytes for a short time.
 */
export function lingeringClose(socket: Socket): void {
  if (socket.destroyed) return;
  let left = MAX_BYTES;
  const timer = setTimeout(() => socket.destroy(), MAX_MS);
  socket.removeAllListeners('data');
  socket
    .on('data', (bytes: Buffer) => {
      left -= bytes.length;
      if (left <= 0) socket.pause();
    })
    .once('close', () => clearTimeout(timer))
    .resume()
    .end();
}
