import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { listeningApp, rawCreate } from '../listening-app.js';
import { onAccepted, onWrite } from './accepted-sockets.js';

const RESPONSES = 20;

/** Resolves with the number of writes with which the server responds to requests in sequence on one connection. */
async function writesFor(port: number, requests: readonly string[]): Promise<number> {
  let writes = 0;
  const stop = onAccepted(port, (socket) => {
    onWrite(socket, () => {
      writes += 1;
    });
  });
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  try {
    for (const text of requests) {
      socket.write(text);
      for (let response = ''; !response.includes('}'); )
        response += (await once(socket, 'data'))[0];
    }
  } finally {
    stop();
    socket.destroy();
  }
  return writes;
}

describe('The number of writes per response', () => {
  let app: Awaited<ReturnType<typeof listeningApp>>;
  beforeEach(async () => {
    app = await listeningApp({});
  });
  afterEach(() => app.close());

  it('is one for a created plant, with head and body', async () => {
    const creates = Array.from({ length: RESPONSES }, (_, id) =>
      rawCreate(`{"id":${id},"name":"Monstera"}`),
    );
    expect(await writesFor(app.port, creates)).to.equal(RESPONSES);
  });

  it('is one for a refused plant', async () => {
    const invalid = Array.from({ length: RESPONSES }, () => rawCreate('{"id":"1"}'));
    expect(await writesFor(app.port, invalid)).to.equal(RESPONSES);
  });
});
