import { expect } from 'chai';
import { type ClosableParts, close } from '../../src/commands/stop.js';

describe('Closing the parts of the service', () => {
  const done: string[] = [];

  beforeEach(() => done.splice(0));

  /** Ends in a later turn of the event loop: what is not waited for comes too late. */
  const step = (name: string) => async () => {
    await new Promise(setImmediate);
    done.push(name);
  };

  function parts(management: boolean): ClosableParts {
    const server = (name: string) => {
      const drain = (timeLimit: number) => step(`${name} within ${timeLimit}`)();
      return { drain };
    };
    return {
      server: server('server'),
      management: management ? server('management') : undefined,
      tokenVerifier: { close: step('token verifier') },
      plantRepository: { close: step('plant repository') },
    };
  }

  it('closes the server first, and the management listener last', async () => {
    await close(parts(true), 300);
    expect(done).to.deep.equal([
      'server within 300',
      'token verifier',
      'plant repository',
      'management within 0',
    ]);
  });

  it('works without a management listener', async () => {
    await close(parts(false), 300);
    expect(done).to.have.length(3);
  });
});
