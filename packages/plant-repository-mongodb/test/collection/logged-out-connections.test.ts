import { expect } from 'chai';
import { LoggedOutConnections } from '../../src/collection/logged-out-connections.js';
import { VirtualTime } from '../support/virtual-time.js';

const SECOND = 1_000;

describe('Connections whose user is logged out', () => {
  const time = new VirtualTime();
  let done: string[];
  /** Whether each next connection is logged in; an error where it cannot be asked. */
  let connections: (boolean | Error)[];

  beforeEach(() => {
    time.install();
    done = [];
  });

  afterEach(() => time.uninstall());

  function open(...states: (boolean | Error)[]): LoggedOutConnections {
    connections = states;
    const collection = {
      async isLoggedIn(timeLimit: number) {
        done.push(`ask within ${timeLimit}`);
        const state = connections.shift() ?? false;
        if (state instanceof Error) throw state;
        return state;
      },
      async closeConnection() {
        done.push('close');
      },
    };
    return new LoggedOutConnections(collection, () => done.push('lacking'));
  }

  const ASK = 'ask within 2000';

  const pass = async (ms: number) => {
    setTimeout(() => undefined, ms);
    await time.runOut(ms);
  };

  it('are closed until one is logged in', async () => {
    await open(false, false, true).close();
    expect(done).to.deep.equal([ASK, 'close', ASK, 'close', ASK]);
  });

  it('are not closed when the first is logged in: permissions are missing', async () => {
    await open(true).close();
    expect(done).to.deep.equal([ASK, 'lacking']);
  });

  it('are all closed when no connection has a user', async () => {
    await open().close();
    const rounds = Array.from({ length: 16 }, () => [ASK, 'close']).flat();
    expect(done).to.deep.equal([...rounds, 'lacking']);
  });

  it('are checked once at a time, and at most once a second', async () => {
    const loggedOut = open(true, true, true);
    await Promise.all([loggedOut.close(), loggedOut.close()]);
    await loggedOut.close();
    expect(done).to.have.length(2);
    await pass(SECOND - 1);
    await loggedOut.close();
    expect(done).to.have.length(2);
    await pass(1);
    await loggedOut.close();
    expect(done).to.have.length(4);
  });

  it('are checked again after a failure', async () => {
    const loggedOut = open(new Error('connection lost'), true);
    await loggedOut.close();
    expect(done).to.deep.equal([ASK]);
    await pass(SECOND);
    await loggedOut.close();
    expect(done).to.deep.equal([ASK, ASK, 'lacking']);
  });
});
