import { Socket } from 'node:net';
import { expect } from 'chai';
import { decide } from '../../src/connection/node-socket.js';

describe('A socket with decisions of its owner', () => {
  let socket: Socket;
  let mayRead: boolean;
  let events: string[];

  beforeEach(() => {
    socket = new Socket();
    mayRead = true;
    events = [];
    decide(socket, {
      mayRead: () => mayRead,
      resumed: () => events.push('resumed'),
      lastResponseSent: () => events.push('last response sent'),
    });
  });

  afterEach(() => socket.destroy());

  it('resumes reading only when it may, and reports it', () => {
    socket.pause();
    mayRead = false;
    expect(socket.resume()).to.equal(socket);
    expect(socket.isPaused()).to.equal(true);
    expect(events).to.deep.equal([]);
    mayRead = true;
    expect(socket.resume()).to.equal(socket);
    expect(socket.isPaused()).to.equal(false);
    expect(events).to.deep.equal(['resumed']);
  });

  it('reports nothing when it was not paused', () => {
    socket.resume().resume();
    expect(events).to.deep.equal([]);
  });

  it('reports the last response, and stays open', () => {
    socket.destroySoon();
    expect(events).to.deep.equal(['last response sent']);
    expect(socket.destroyed).to.equal(false);
  });
});
