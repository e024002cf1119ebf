import type { Socket } from 'node:net';

/** After a closing response at most so much is read, or for so long, before the connection is closed. */
const MAX_BYTES = 65_536;
const MAX_MS = 500;

/**
 * Closes a connection in a way that no reset overtakes the response (RFC 9112 section 9.6): half-closes
 * it, then reads on for a moment and drops what it reads.
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
