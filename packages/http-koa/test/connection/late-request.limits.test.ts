import { Socket } from 'node:net';
import { expect } from 'chai';
import { LateRequest } from '../../src/connection/late-request.js';
import { ReceivedRequest } from '../../src/frame/received-request.js';

const HEADERS = 1000;
const REQUEST = 5000;

describe('A request that is reported as late', () => {
  let now: number;
  let late: LateRequest;

  beforeEach(() => {
    now = 0;
    performance.now = () => now;
    late = new LateRequest({ headersTimeout: HEADERS, requestTimeout: REQUEST });
  });

  afterEach(() => Reflect.deleteProperty(performance, 'now'));

  function arriving(complete = false): ReceivedRequest {
    return Object.assign(new ReceivedRequest(new Socket()), { complete });
  }

  it('is late when its connection was not paused', () => {
    expect(late.isExcused(undefined, false)).to.equal(false);
    expect(late.isOver(false)).to.equal(false);
  });

  it('is excused while its connection is paused, for any time', () => {
    expect(late.isExcused(arriving(), true)).to.equal(true);
    now = 10 * REQUEST;
    expect(late.isOver(true)).to.equal(false);
    expect(late.isOver(false)).to.equal(true);
  });

  for (const [what, request, limit] of [
    ['its headers', () => undefined, HEADERS],
    ['its headers, after a request that is complete', () => arriving(true), HEADERS],
    ['its rest', () => arriving(), REQUEST],
  ] as const) {
    it(`gets its time limit for ${what} again after reading resumes`, () => {
      now = 100;
      late.resumed();
      now = 100 + limit - 1;
      expect(late.isExcused(request(), false)).to.equal(true);
      expect(late.isOver(false)).to.equal(false);
      now += 1;
      expect(late.isOver(true)).to.equal(false);
      expect(late.isOver(false)).to.equal(true);
      expect(late.isExcused(request(), false)).to.equal(false);
    });
  }

  it('gets the time limit of a request after its headers have arrived', () => {
    late.resumed();
    expect(late.isExcused(undefined, false)).to.equal(true);
    late.arrived(arriving());
    now = REQUEST - 1;
    expect(late.isOver(false)).to.equal(false);
    now = REQUEST;
    expect(late.isOver(false)).to.equal(true);
  });

  it('is not late after it is complete', () => {
    const request = arriving();
    late.resumed();
    expect(late.isExcused(request, false)).to.equal(true);
    late.arrived(arriving());
    request.complete = true;
    now = 2 * REQUEST;
    expect(late.isOver(false)).to.equal(false);
    request.complete = false;
    expect(late.isOver(false)).to.equal(false);
  });

  it('is not a request that arrives when none was excused', () => {
    late.resumed();
    late.arrived(arriving());
    expect(late.isExcused(undefined, false)).to.equal(true);
    now = HEADERS;
    expect(late.isOver(false)).to.equal(true);
  });
});
