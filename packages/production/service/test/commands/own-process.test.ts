import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { stopOnSignals } from '../../src/commands/own-process.js';

describe('A signal that stops a process', () => {
  const { now } = performance;
  afterEach(() => {
    performance.now = now;
  });

  it('ends it immediately if it is repeated after 0.25 s or later', () => {
    const exits: number[] = [];
    const output = {
      stdin: new PassThrough(),
      stdout: new PassThrough(),
      stderr: new PassThrough({ encoding: 'utf8' }),
    };
    const exit = (code: number) => exits.push(code);
    const process = Object.assign(new EventEmitter(), { env: {}, ...output, exit });
    const at = (milliseconds: number, name: string) => {
      performance.now = () => milliseconds;
      process.emit(name);
      return exits;
    };
    const { signal } = stopOnSignals(process, ['SIGINT', 'SIGHUP']);
    expect(at(1000, 'SIGHUP')).to.deep.equal([]);
    expect(signal.reason).to.equal('SIGHUP');
    expect(at(1249, 'SIGINT')).to.deep.equal([]);
    expect(at(1250, 'SIGINT')).to.deep.equal([1]);
    expect(output.stderr.read()).to.equal('plant-store: ended by a second signal, SIGINT\n');
  });
});
