import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { listeningApp, rawCreate } from './listening-app.js';

const ACCEPTED = 'net.server.socket';
const ANSWERS = 20;

/** How often the server hands bytes of a connection to the operating system. */
function countWrites(socket: Socket): () => number {
  let writes = 0;
  const write = socket._write.bind(socket);
  const writev = socket._writev?.bind(socket);
  socket._write = (...args) => {
    writes += 1;
    write(...args);
  };
  socket._writev = (...args) => {
    writes += 1;
    writev?.(...args);
  };
  return () => writes;
}

/** The writes that it takes to answer requests, one after another on one connection. */
async function writesFor(port: number, requests: readonly string[]): Promise<number> {
  let written = () => 0;
  const accepted = (message: unknown) => {
    const { socket } = message as { socket: Socket };
    if (socket.localPort === port) written = countWrites(socket);
  };
  subscribe(ACCEPTED, accepted);
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  try {
    for (const text of requests) {
      socket.write(text);
      for (let answer = ''; !answer.includes('}'); ) answer += (await once(socket, 'data'))[0];
    }
  } finally {
    unsubscribe(ACCEPTED, accepted);
    socket.destroy();
  }
  return written();
}

describe('Writes per answer', () => {
  let app: Awaited<ReturnType<typeof listeningApp>>;
  beforeEach(async () => {
    app = await listeningApp({});
  });
  afterEach(() => app.close());

  it('is one for a created plant, head and body together', async () => {
    const creates = Array.from({ length: ANSWERS }, (_, id) =>
      rawCreate(`{"id":${id},"name":"Monstera"}`),
    );
    expect(await writesFor(app.port, creates)).to.equal(ANSWERS);
  });

  it('is one for a refused plant', async () => {
    const faulty = Array.from({ length: ANSWERS }, () => rawCreate('{"id":"1"}'));
    expect(await writesFor(app.port, faulty)).to.equal(ANSWERS);
  });
});
