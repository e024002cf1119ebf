import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** Starts a server that keeps the first guest of each seat, and always responds with the guest of the seat. */
export async function seatServer() {
  const guests = new Map<string, string>();
  const server = createServer(async (request, response) => {
    const seat = request.url ?? '';
    const guest = await text(request);
    if (request.method === 'PUT' && !guests.has(seat)) {
      guests.set(seat, guest);
      response.statusCode = 201;
    }
    response.end(guests.get(seat));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
