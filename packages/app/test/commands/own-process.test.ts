import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { stopOnSignals } from '../../src/commands/own-process.js';

describe('A signal that stops a process', () => {
  const { now } = performance;
  afterEach(() => {
    performance.now = now;
  });

  it('ends it when it is repeated after 0.25 s, and not before', () => {
    const exits: number[] = [];
    const output = {
      stdin: new PassThrough(),
      stdout: new PassThrough(),
      stderr: new PassThrough(),
    };
    const exit = (code: number) => exits.push(code);
    const process = Object.assign(new EventEmitter(), { env: {}, ...output, exit });
    const signalAt = (milliseconds: number) => {
      performance.now = () => milliseconds;
      process.emit('SIGINT');
      return exits;
    };
    stopOnSignals(process);
    expect(signalAt(0)).to.deep.equal([]);
    expect(signalAt(249)).to.deep.equal([]);
    expect(signalAt(250)).to.deep.equal([1]);
  });
});
