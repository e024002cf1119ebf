import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { listeningApp } from '../support/listening-app.js';

const CLIENTS = 50;

describe('The requests of a turn', () => {
  it('wait for clients that connect at the same time, of which Node.js accepts one in each turn', async () => {
    let accepted = 0;
    let acceptedAtFirst: number | undefined;
    const ready = async () => {
      acceptedAtFirst ??= accepted;
    };
    const { server, port, close } = await listeningApp({ ready });
    server.on('connection', () => (accepted += 1));
    const clients = Array.from({ length: CLIENTS }, () => connect(port, '127.0.0.1'));
    for (const client of clients) client.write('GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await Promise.all(clients.map((client) => once(client, 'data')));
    for (const client of clients) client.destroy();
    await close();
    // One without the wait. On a busy machine, some clients connect after the longest wait.
    expect(acceptedAtFirst).to.be.above(CLIENTS / 5);
  });
});
