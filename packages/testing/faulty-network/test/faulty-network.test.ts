import { rejects } from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { FaultyNetwork } from '@plant-store/faulty-network';
import { expect } from 'chai';

const MARKER = 'a write';

describe('FaultyNetwork', () => {
  let server: Server;
  let sockets: Socket[];
  let received: string[];
  let network: FaultyNetwork;
  let client: Socket;

  beforeEach(async () => {
    received = [];
    sockets = [];
    server = createServer((socket) => {
      sockets.push(socket);
      socket
        .on('error', () => undefined)
        .on('data', (bytes) => {
          received.push(`${bytes}`);
          socket.write(bytes);
          server.emit('bytes');
        });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    network = await FaultyNetwork.before((server.address() as AddressInfo).port, MARKER);
    client = await connected();
  });

  afterEach(async () => {
    client.destroy();
    await network.close();
    server.close();
  });

  async function connected(): Promise<Socket> {
    const [host, port] = network.host.split(':');
    const socket = connect(Number(port), host)
      .setEncoding('utf8')
      .on('error', () => undefined);
    await once(socket, 'connect');
    return socket;
  }

  async function echoed(socket: Socket, text: string): Promise<string> {
    socket.write(text);
    const [echo] = await once(socket, 'data');
    return echo;
  }

  /** Resolves after enough turns of the event loop that everything that can pass has passed. */
  async function manyTurns(): Promise<void> {
    for (let turns = 0; turns < 100; turns += 1) await setImmediate();
  }

  it('holds what is sent while frozen, and passes it on when restored', async () => {
    await echoed(client, 'before');
    network.freeze();
    client.write('held');
    const other = await connected();
    other.write('held, too');
    await manyTurns();
    expect(received).to.deep.equal(['before']);
    const echoes = Promise.all([once(client, 'data'), once(other, 'data')]);
    await network.restore();
    expect((await echoes).flat()).to.deep.equal(['held', 'held, too']);
    other.destroy();
  });

  it('refuses new connections until restored, and ends the open ones only when cut', async () => {
    network.refuseConnections();
    await rejects(connected(), { code: 'ECONNREFUSED' });
    expect(await echoed(client, 'still open')).to.equal('still open');
    expect(network.connections).to.equal(1);
    const closed = once(client, 'close');
    await network.cut();
    expect(network.connections).to.equal(0);
    await closed;
    await network.restore();
    client = await connected();
    expect(await echoed(client, 'after')).to.equal('after');
  });

  it('cuts the connection of a marked request when the server responds', async () => {
    network.loseResponses('cut');
    expect(await echoed(client, 'a read')).to.equal('a read');
    const passed = network.requestPassed();
    client.write('one a w');
    await setImmediate();
    client.write('rite');
    await passed;
    await once(client, 'close');
    expect(received.join('')).to.equal('a readone a write');
  });

  it('drops all further responses on a silenced connection, and on no other', async () => {
    network.loseResponses('silence');
    const passed = network.requestPassed();
    client.write(MARKER);
    await passed;
    const other = await connected();
    expect(await echoed(other, MARKER)).to.equal(MARKER);
    const arrived = once(server, 'bytes');
    client.write('again');
    await arrived;
    await manyTurns();
    expect(client.bytesRead).to.equal(0);
    other.destroy();
  });

  it('ends no connection when a response arrives after it was restored', async () => {
    network.loseResponses('cut');
    await echoed(client, 'before');
    const [socket] = sockets;
    socket?.removeAllListeners('data');
    const passed = network.requestPassed();
    client.write(MARKER);
    await passed;
    await network.restore();
    const response = once(client, 'data');
    socket?.write('late');
    expect(await response).to.deep.equal(['late']);
  });

  it('freezes when the server responds, and delivers the response when restored', async () => {
    network.loseResponses('freeze');
    const arrived = once(server, 'bytes');
    client.write(MARKER);
    await arrived;
    await manyTurns();
    expect([received, client.bytesRead]).to.deep.equal([[MARKER], 0]);
    const response = once(client, 'data');
    await network.restore();
    expect(await response).to.deep.equal([MARKER]);
  });

  it('ends the connection of a delayed request, and delivers the request when restored', async () => {
    network.delayRequest();
    expect(await echoed(client, 'a read')).to.equal('a read');
    // More than one chunk.
    const large = MARKER + 'x'.repeat(300_000);
    client.write(large);
    await once(client, 'close');
    client = await connected();
    expect(await echoed(client, 'another write')).to.equal('another write');
    expect(received.splice(0)).to.deep.equal(['a read', 'another write']);
    await network.restore();
    while (received.join('').length < large.length) await setImmediate();
    expect(received.join('')).to.equal(large);
  });
});
