import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { onAccepted, onWrite } from './accepted-sockets.js';
import { listeningApp, rawCreate } from './listening-app.js';

/** Node reads at most so much at once. */
const CHUNK = 65_536;
const REQUESTS = 5_000;

describe('A client that pipelines without an end', () => {
  let app: Awaited<ReturnType<typeof listeningApp>>;
  beforeEach(async () => {
    app = await listeningApp({});
  });
  afterEach(() => app.close());

  it('is read no more than two chunks ahead of its answers', async () => {
    const creates = Array.from({ length: REQUESTS }, (_, at) =>
      rawCreate(`{"id":${1_000_000 + at},"name":"Monstera"}`),
    );
    let answers = 0;
    let mostAhead = 0;
    const stop = onAccepted(app.port, (accepted) => {
      onWrite(accepted, () => {
        const answered = answers * (creates[0]?.length ?? 0);
        mostAhead = Math.max(mostAhead, accepted.bytesRead - answered);
        answers += 1;
      });
    });
    const socket = connect(app.port, '127.0.0.1');
    socket.write(creates.join(''));
    socket.resume();
    while (answers < REQUESTS) await once(socket, 'data');
    stop();
    socket.destroy();
    expect(mostAhead).to.be.within(1, 2 * CHUNK);
  });
});
